"""Rows of eight numbers, handled as one: what compilers make of short loops costs more than the sums in them.

An array is passed whole with the place where its row begins. LLVM splits rows where a processor has narrower registers.
"""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

LANES = 8
_ROW = ir.VectorType(ir.DoubleType(), LANES)
_UNDEFINED = ir.Constant(_ROW, ir.Undefined)
_SUMS = ("contract", "reassoc", "nsz")


def _address(builder, data, at):
    return builder.bitcast(builder.gep(data, [at]), _ROW.as_pointer())


def _load(builder, data, at):
    row = builder.load(_address(builder, data, at))
    row.align = 8
    return row


def _store(builder, row, data, at):
    builder.store(row, _address(builder, data, at)).align = 8


def _lanes(builder, row, order):
    return builder.shuffle_vector(row, _UNDEFINED, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))


def _everywhere(builder, number):
    first = builder.insert_element(_UNDEFINED, number, ir.Constant(ir.IntType(32), 0))
    return _lanes(builder, first, [0] * LANES)


def _times(builder, left, right):
    return builder.fmul(left, right, flags=_SUMS)


def _plus(builder, left, right):
    return builder.fadd(left, right, flags=_SUMS)


def _total(builder, row):
    for apart in (4, 2, 1):
        row = _plus(builder, row, _lanes(builder, row, [(i + apart) % LANES for i in range(LANES)]))
    return builder.extract_element(row, ir.Constant(ir.IntType(32), 0))


def _through(builder, row, data, at):
    """The row times the eight rows of a matrix: two sums side by side, so that neither waits for the other."""
    halves = []
    for begin in (0, LANES // 2):
        half = None
        for i in range(begin, begin + LANES // 2):
            place = builder.add(at, ir.Constant(at.type, i * LANES))
            part = _times(builder, _lanes(builder, row, [i] * LANES), _load(builder, data, place))
            half = part if half is None else _plus(builder, half, part)
        halves.append(half)
    return _plus(builder, *halves)


def _arrays(context, builder, signature, args):
    """Pointers of the arrays among the arguments, and all others as they are."""
    return [
        context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, args, strict=True)
    ]


@intrinsic
def _times_row(typingctx, x, i, y, j, scale, into, k):  # noqa: ARG001  (numba's signature)
    def codegen(context, builder, signature, args):
        a, at, b, bt, factor, c, ct = _arrays(context, builder, signature, args)
        scaled = _times(builder, _load(builder, b, bt), _everywhere(builder, factor))
        row = _times(builder, _load(builder, a, at), scaled)
        _store(builder, row, c, ct)
        return _total(builder, row)

    return types.float64(x, types.int64, y, types.int64, types.float64, into, types.int64), codegen


@intrinsic
def _moved_row(typingctx, x, i, matrix, m, y, j, scale, into, k):  # noqa: ARG001
    def codegen(context, builder, signature, args):
        a, at, b, bt, c, ct, factor, d, dt = _arrays(context, builder, signature, args)
        scaled = _times(builder, _load(builder, c, ct), _everywhere(builder, factor))
        row = _times(builder, _through(builder, _load(builder, a, at), b, bt), scaled)
        _store(builder, row, d, dt)
        return _total(builder, row)

    known = (types.int64, matrix, types.int64, y, types.int64, types.float64, into, types.int64)
    return types.float64(x, *known), codegen


@intrinsic
def _add_pairs(typingctx, x, i, y, j, scale, into, k):  # noqa: ARG001
    def codegen(context, builder, signature, args):
        a, at, b, bt, factor, c, ct = _arrays(context, builder, signature, args)
        left = _times(builder, _load(builder, a, at), _everywhere(builder, factor))
        right = _load(builder, b, bt)
        for lane in range(LANES):
            place = builder.add(ct, ir.Constant(ct.type, lane * LANES))
            product = _times(builder, _lanes(builder, left, [lane] * LANES), right)
            _store(builder, _plus(builder, _load(builder, c, place), product), c, place)
        return context.get_dummy_value()

    return types.void(x, types.int64, y, types.int64, types.float64, into, types.int64), codegen


@intrinsic
def _add_row(typingctx, x, i, into, k):  # noqa: ARG001
    def codegen(context, builder, signature, args):
        a, at, b, bt = _arrays(context, builder, signature, args)
        _store(builder, _plus(builder, _load(builder, b, bt), _load(builder, a, at)), b, bt)
        return context.get_dummy_value()

    return types.void(x, types.int64, into, types.int64), codegen


def _times_row_plainly(x, i, y, j, scale, into, k):
    """into[k…] = x[i…] · y[j…] · scale, number by number; gives the sum."""
    into[k : k + LANES] = x[i : i + LANES] * y[j : j + LANES] * scale
    return into[k : k + LANES].sum()


def _moved_row_plainly(x, i, matrix, m, y, j, scale, into, k):
    """into[k…] = (x[i…] times the matrix at m) · y[j…] · scale; gives the sum."""
    table = matrix[m : m + LANES * LANES].reshape(LANES, LANES)
    into[k : k + LANES] = (x[i : i + LANES] @ table) * y[j : j + LANES] * scale
    return into[k : k + LANES].sum()


def _add_pairs_plainly(x, i, y, j, scale, into, k):
    """The matrix at into[k…] gains x[i…] · scale of its rows times y[j…] of its columns."""
    table = into[k : k + LANES * LANES].reshape(LANES, LANES)
    table += (x[i : i + LANES] * scale)[:, None] * y[j : j + LANES]


def _add_row_plainly(x, i, into, k):
    """into[k…] += x[i…]."""
    into[k : k + LANES] += x[i : i + LANES]


# (the second where kernels run as plain Python: NUMBA_DISABLE_JIT)
times_row = _times_row_plainly if config.DISABLE_JIT else _times_row
moved_row = _moved_row_plainly if config.DISABLE_JIT else _moved_row
add_pairs = _add_pairs_plainly if config.DISABLE_JIT else _add_pairs
add_row = _add_row_plainly if config.DISABLE_JIT else _add_row
