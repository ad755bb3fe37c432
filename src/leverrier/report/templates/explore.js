(function () {
  "use strict";
  // What follows from some columns, by summing the others out of the model's tables one by one.
  function inference(model) {
    var cards = model.states.map(function (states) { return states.length; });
    var factors = model.tables.map(function (table, node) {
      var of = model.parents[node].concat([node]);
      var stride = {}, step = 1;
      for (var i = of.length - 1; i >= 0; i--) { stride[of[i]] = step; step *= cards[of[i]]; }
      return { of: of, stride: stride, from: 0, table: table };
    });
    function seen(factor, evidence) {
      var from = factor.from;
      var of = factor.of.filter(function (node) {
        if (evidence[node] === undefined) return true;
        from += factor.stride[node] * evidence[node];
        return false;
      });
      return { of: of, stride: factor.stride, from: from, table: factor.table };
    }
    function summed(parts, keep, gone) { // Σ over `gone` of the product of the parts, as a table over `keep`
      var over = keep.concat(gone), total = 1, inner = 1;
      over.forEach(function (node) { total *= cards[node]; });
      gone.forEach(function (node) { inner *= cards[node]; });
      var table = new Float64Array(total / inner), at = over.map(function () { return 0; });
      var offset = parts.map(function (part) { return part.from; });
      var steps = over.map(function (node) { return parts.map(function (part) { return part.of.indexOf(node) < 0 ? 0 : part.stride[node]; }); });
      for (var i = 0; i < total; i++) {
        var product = 1;
        for (var k = 0; k < parts.length; k++) product *= parts[k].table[offset[k]];
        table[Math.floor(i / inner)] += product;
        for (var j = over.length - 1; j >= 0; j--) {
          at[j]++;
          for (k = 0; k < parts.length; k++) offset[k] += steps[j][k];
          if (at[j] < cards[over[j]]) break;
          for (k = 0; k < parts.length; k++) offset[k] -= steps[j][k] * at[j];
          at[j] = 0;
        }
      }
      var stride = {}, step = 1;
      for (j = keep.length - 1; j >= 0; j--) { stride[keep[j]] = step; step *= cards[keep[j]]; }
      return { of: keep, stride: stride, from: 0, table: table };
    }
    function around(parts, node) {
      var found = [];
      parts.forEach(function (part) {
        if (part.of.indexOf(node) >= 0) part.of.forEach(function (each) { if (each !== node && found.indexOf(each) < 0) found.push(each); });
      });
      return found;
    }
    function above(nodes) { // (what hangs below and is not set says nothing)
      var found = {}, waiting = nodes.slice();
      while (waiting.length) {
        var node = waiting.pop();
        if (!found[node]) { found[node] = true; waiting = waiting.concat(model.parents[node]); }
      }
      return Object.keys(found).map(Number);
    }
    return function (target, evidence) {
      var set = Object.keys(evidence).map(Number);
      var nodes = above(set.concat([target]));
      var open = Object.assign({}, evidence), known = open[target];
      delete open[target];
      var parts = nodes.map(function (node) { return seen(factors[node], open); });
      var left = nodes.filter(function (node) { return node !== target && open[node] === undefined; });
      while (left.length) {
        var best = null, cost = Infinity, scope = [];
        left.forEach(function (node) {
          var near = around(parts, node), size = near.reduce(function (n, each) { return n * cards[each]; }, 1);
          if (size < cost) { best = node; cost = size; scope = near; }
        });
        var own = parts.filter(function (part) { return part.of.indexOf(best) >= 0; });
        parts = parts.filter(function (part) { return part.of.indexOf(best) < 0; }).concat([summed(own, scope, [best])]);
        left.splice(left.indexOf(best), 1);
      }
      var table = Array.prototype.slice.call(summed(parts, [target], []).table);
      if (known !== undefined) table = table.map(function (cell, k) { return k === known ? cell : 0; });
      var total = table.reduce(function (sum, cell) { return sum + cell; }, 0);
      return total > 0 ? table.map(function (cell) { return cell / total; }) : null;
    };
  }

  function percent(share) {
    return (share > 0 && share < 0.005) || (share > 0.995 && share < 1) ? (100 * share).toFixed(1) + "\u00a0%" : Math.round(100 * share) + "\u00a0%";
  }

  document.querySelectorAll(".explore").forEach(function (box) {
    var model = JSON.parse(box.dataset.model);
    var infer = inference(model);
    var said = box.querySelector(".said");
    var choices = Array.prototype.slice.call(box.querySelectorAll("select[data-place]"));
    box.hidden = false;

    function evidence() {
      var set = {};
      choices.forEach(function (choice) { if (choice.value !== "") set[choice.dataset.place] = Number(choice.value); });
      return set;
    }
    function show() {
      var set = evidence(), possible = true;
      box.querySelectorAll(".bars").forEach(function (bars) {
        var shares = infer(Number(bars.dataset.place), set);
        possible = possible && shares !== null;
        bars.querySelectorAll("li").forEach(function (line, k) {
          var share = shares ? shares[k] : 0;
          line.querySelector(".fill").style.width = 100 * share + "%";
          var number = line.querySelector("output");
          number.textContent = shares ? percent(share) : "–";
          number.dataset.value = shares ? String(share) : "";
        });
      });
      var count = Object.keys(set).length;
      said.textContent = !possible ? "The model says that these values never occur together." :
        count ? (count === 1 ? "1 column is set." : count + " columns are set.") : "Nothing is set: these are the shares over all rows.";
    }
    choices.forEach(function (choice) { choice.addEventListener("change", show); });
    box.querySelector(".clear").addEventListener("click", function () {
      choices.forEach(function (choice) { choice.value = ""; });
      show();
    });
    show();
    var reader = box.querySelector(".reader");
    if (reader) rows(reader, model, infer);
  });

  // A table of the user's own: read here, each row given its states.
  function rows(box, model, infer) {
    var file = box.querySelector("input[type=file]"), words = box.querySelector(".told");
    var state = box.querySelector("select"), find = box.querySelector("input[type=search]");
    var body = box.querySelector("tbody"), head = box.querySelector("thead tr"), hidden = model.hidden[0];
    var all = [], names = [];
    file.addEventListener("change", function () {
      if (!file.files.length) return;
      file.files[0].text().then(function (text) {
        var lines = parsed(text);
        names = lines.shift() || [];
        var places = names.map(function (name) { return model.hidden.indexOf(model.names.indexOf(name)) < 0 ? model.names.indexOf(name) : -1; });
        var used = places.filter(function (place) { return place >= 0; }).length;
        var kept = new Map();
        all = used ? lines.slice(0, 20000).map(function (cells, number) {
          var set = {};
          places.forEach(function (place, at) {
            var code = place < 0 ? -1 : coded(model, place, cells[at]);
            if (code >= 0) set[place] = code;
          });
          var key = JSON.stringify(set);
          if (!kept.has(key)) kept.set(key, infer(hidden, set));
          var shares = kept.get(key), best = shares ? shares.indexOf(Math.max.apply(null, shares)) : -1;
          return { number: number + 1, cells: cells, best: best, share: shares ? shares[best] : 0, shares: shares };
        }) : [];
        box.querySelector(".found").hidden = !all.length;
        words.textContent = !used ? "None of the model's columns is in this file: its first line must hold their names." :
          all.length + " rows" + (lines.length > all.length ? " (the first of " + lines.length + ")" : "") + ", " + used + " columns of the model; " +
          all.filter(function (row) { return row.share < 0.8; }).length + " rows are in doubt (below 80\u00a0%).";
        draw();
      });
    });
    state.addEventListener("change", draw);
    find.addEventListener("input", draw);
    function draw() {
      var wanted = state.value, text = find.value.trim().toLowerCase();
      var shown = all.filter(function (row) {
        if (wanted === "doubt" ? row.share >= 0.8 : wanted !== "" && row.best !== Number(wanted)) return false;
        return !text || String(row.number) === text || row.cells.some(function (cell) { return cell.toLowerCase() === text; }) ||
          (text.length > 2 && row.cells.join(" ").toLowerCase().indexOf(text) >= 0);
      });
      if (wanted === "doubt") shown.sort(function (a, b) { return a.share - b.share; });
      head.replaceChildren();
      ["row", "state", "probability"].concat(names.slice(0, 12)).forEach(function (name) { head.appendChild(cell("th", name)); });
      body.replaceChildren();
      shown.slice(0, 50).forEach(function (row) {
        var line = body.appendChild(document.createElement("tr"));
        var label = row.best < 0 ? "impossible" : model.states[hidden][row.best];
        [String(row.number), label, row.best < 0 ? "–" : percent(row.share)].concat(row.cells.slice(0, 12)).forEach(function (text) { line.appendChild(cell("td", text)); });
        line.cells[2].dataset.value = String(row.share);
      });
      box.querySelector(".shown").textContent = shown.length + (shown.length === 1 ? " row" : " rows") + (shown.length > 50 ? ", the first 50 are shown" : "");
    }
    function cell(tag, text) {
      var made = document.createElement(tag);
      made.textContent = text.length > 40 ? text.slice(0, 39) + "…" : text;
      if (tag === "th") made.scope = "col";
      return made;
    }
  }
  function coded(model, place, text) {
    text = (text || "").trim();
    if (text === "") return -1;
    var cuts = model.cuts[place];
    if (cuts && isFinite(text)) return cuts.filter(function (cut) { return cut <= Number(text); }).length;
    var states = model.states[place], low = text.toLowerCase();
    for (var k = 0; k < states.length; k++) if (states[k] === text) return k;
    for (k = 0; k < states.length; k++) if (states[k].toLowerCase() === low || (isFinite(text) && isFinite(states[k]) && Number(states[k]) === Number(text))) return k;
    return -1;
  }
  function parsed(text) {
    text = text.replace(/^\ufeff/, "");
    var first = text.split(/\r?\n/, 1)[0];
    var comma = [",", ";", "\t"].sort(function (a, b) { return first.split(b).length - first.split(a).length; })[0];
    var lines = [], line = [], cell = "", quoted = false;
    for (var i = 0; i < text.length; i++) {
      var letter = text[i];
      if (quoted) {
        if (letter !== '"') cell += letter;
        else if (text[i + 1] === '"') { cell += '"'; i++; }
        else quoted = false;
      } else if (letter === '"' && cell === "") quoted = true;
      else if (letter === comma) { line.push(cell); cell = ""; }
      else if (letter === "\n") { line.push(cell.replace(/\r$/, "")); lines.push(line); line = []; cell = ""; }
      else cell += letter;
    }
    if (cell !== "" || line.length) { line.push(cell); lines.push(line); }
    return lines.filter(function (each) { return each.length > 1 || each[0] !== ""; });
  }
})();
