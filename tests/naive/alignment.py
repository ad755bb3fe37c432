"""A table's labels among another's states, cell by cell."""

from __future__ import annotations


def naive_align(table, states):
    """Rows of codes by variable of `states`: the equal label's place, else that of equal text, else None if unseen."""
    aligned = []
    for name, wanted in states.items():
        if name not in table.variables:
            aligned.append([-1] * table.n_rows)
            continue
        labels = table.states[name]
        row = []
        for code in table.column(name):
            if code == table.missing:
                row.append(-1)
                continue
            label = labels[code]
            if label in wanted:
                row.append(list(wanted).index(label))
            else:
                texts = [str(state).lower() for state in wanted]
                row.append(texts.index(str(label).lower()) if str(label).lower() in texts else None)
        aligned.append(row)
    return aligned
