"""Bad files: each gives one clear line, with the file and the line in it, and nothing is allocated for it."""

import json

import pytest

from leverrier.errors import FormatError, InputError, TooLargeError
from leverrier.formats.network_files import read_network

A = "network n {}\nvariable a { type discrete [2] { x, y }; }\n"
B = A + "variable b { type discrete [3] { p, q, r }; }\nprobability ( a ) { table 0.5, 0.5; }\n"
MANY = "".join(f"variable v{i} {{ type discrete [10] {{ 0 1 2 3 4 5 6 7 8 9 }}; }}\n" for i in range(12))
HUGE = (
    MANY + "probability ( v0 | " + ", ".join(f"v{i}" for i in range(1, 12)) + " ) {\n default 1 0 0 0 0 0 0 0 0 0; }\n"
)
FILLED = MANY[: MANY.index("variable v8")] + "".join(
    f"probability ( v{i} | {' '.join(f'v{j}' for j in range(7) if j != i)} ) {{ default 1 0 0 0 0 0 0 0 0 0; }}\n"
    for i in range(8)
)
CROWD = "".join(f"variable v{i} {{ type discrete [1] {{ x }}; }}\n" for i in range(65))
CROWD += f"probability ( v64 | {' '.join(f'v{i}' for i in range(64))} ) {{ default 1; }}"

BIF = [
    # name, text, what the message says, line
    ("empty", "", "no variables: the file is empty or not a network", None),
    ("not a network", "id,age\n1,2\n", "'id' was found where network or variable or probability was expected", 1),
    ("only a header", "network n {\n}\n", "no variables", None),
    (
        "cut in a block",
        A + "probability ( a ) {\n  table 0.5,",
        "the file ends where a probability or ';' was expected",
        4,
    ),
    ("cut in a list", "variable a {\n type discrete [2] { x,", "the file ends where a state or '}' was expected", 2),
    ("unclosed comment", A + "/* never\nends", "the comment that begins here is not closed", 3),
    ("unclosed quote", A + 'probability ( "a ) { table 1 0; }\n', "the quote that begins here is not closed", 3),
    ("property without end", A + "property never ends\n", "the property that begins here has no ';'", 3),
    ("continuous", "variable a { type continuous; }", "'continuous' was found where discrete was expected", 1),
    ("no type", "variable a {\n}\n", "'a' has no states: 'type discrete [n] { … };' is missing", 1),
    ("two types", "variable a { type discrete [1] { x };\ntype discrete [1] { x }; }", "a second type for 'a'", 2),
    ("states not counted", "variable a {\n type discrete [3] { x, y }; }", "'a' is to have 3 states but names 2", 2),
    (
        "number of states",
        "variable a { type discrete [two] { x, y }; }",
        "'two' was found where the number of states",
        1,
    ),
    ("no states", "variable a { type discrete [0] { }; }\nprobability(a) { table ; }", "'a' has no states", 1),
    ("state twice", "variable a { type discrete [2] { x, x }; }", "'a' has the state 'x' twice", 1),
    ("variable twice", A + "\nvariable a { type discrete [2] { x, y }; }", "'a' is declared twice, first at line 2", 4),
    ("no name", 'variable "" { type discrete [1] { x }; }', "a variable has no name", 1),
    ("no table", B, "'b' has no table: every variable needs one", 3),
    ("table twice", B + "probability ( a ) { table 0.5, 0.5; }", "a second table for 'a', the first at line 4", 5),
    (
        "table for nobody",
        B + "probability ( c ) { table 1; }",
        "a table for 'c', which is not a variable of the file",
        5,
    ),
    ("unknown parent", B + "\nprobability ( b | c ) { }", "'b' has the parent 'c', which is not a variable", 6),
    ("parent twice", B + "probability ( b | a, a ) { }", "'b' names its parent 'a' twice", 5),
    ("own parent", B + "probability ( b | b ) { default 1 0 0; }", "the graph has a cycle: b → b", 5),
    (
        "a cycle",
        A + "variable b { type discrete [1] { p }; }\nprobability ( a | b ) { default 1 0; }\n"
        "probability ( b | a ) { default 1; }",
        "the graph has a cycle: ",
        (4, 5),
    ),
    ("unknown state", B + "probability ( b | a ) {\n (x) 1, 0, 0;\n (z) 1, 0, 0; }", "'z' is not a state of 'a'", 7),
    ("case twice", B + "probability ( b | a ) {\n (x) 1, 0, 0;\n (x) 1, 0, 0; }", "(x) is given twice for 'b'", 7),
    (
        "case missing",
        B + "probability ( b | a ) {\n (x) 1, 0, 0;\n}",
        "'b' has no row for (y): 1 of 2 are given and there is no 'default'",
        5,
    ),
    (
        "case too long",
        B + "probability ( b | a ) {\n (x, x) 1, 0, 0; }",
        "(x, x) names 2 states, but 'b' has 1 parents",
        6,
    ),
    ("numbers missing", B + "probability ( b | a ) {\n (x) 1, 0; }", "(x) has 2 numbers, but 'b' has 3 states", 6),
    ("nothing given", B + "probability ( b | a ) { }", "'b' has no probabilities", 5),
    (
        "table too short",
        B + "probability ( b | a ) {\n table 1, 0, 0, 0, 1; }",
        "the table of 'b' has 5 numbers, expected 6 (2 × 3)",
        6,
    ),
    (
        "default too long",
        B + "probability ( b | a ) {\n default 1, 0, 0, 0; }",
        "the default of 'b' has 4 numbers, expected 3",
        6,
    ),
    (
        "table and cases",
        B + "probability ( b | a ) { (x) 1,0,0;\n table 1 1 0 0 0 0; }",
        "'b' has a whole 'table' and cases",
        6,
    ),
    ("two defaults", B + "probability ( b | a ) { default 1,0,0;\n default 1,0,0; }", "a second 'default' for 'b'", 6),
    (
        "negative",
        B + "probability ( b ) {\n table 1.5, -0.5,\n 0; }",
        "-0.5 is negative: a probability was expected",
        6,
    ),
    ("nan", B + "probability ( b ) { table nan, 0.5, 0.5; }", "'nan' is not finite: a probability was expected", 5),
    ("infinite", B + "probability ( b ) { table -Infinity 0.5, 0.5; }", "'-Infinity' is not finite", 5),
    ("overflow", B + "probability ( b ) { table 1e999 0.5, 0.5; }", "inf is not finite", 5),
    ("sum overflows", B + "probability ( b ) { table 1e308 1e308 1e308; }", "sum to inf, expected 1", 5),
    (
        "a word",
        B + "probability ( b ) { table half, 0.5, 0; }",
        "'half' is not a number: a probability was expected",
        5,
    ),
    ("Python's numbers", B + "probability ( b ) { table 1_0, 0.5, 0; }", "'1_0' is not a number", 5),
    (
        "not one",
        B + "probability ( b | a ) {\n (x) 1, 0, 0;\n (y) 0.5, 0.4, 0.05; }",
        "the probabilities of 'b' given a=y sum to 0.95, expected 1 (within 0.001)",
        7,
    ),
    (
        "default not one",
        B + "probability ( b | a ) {\n (x) 1, 0, 0;\n default 0.5, 0.6, 0; }",
        "given a=y sum to 1.1",
        7,
    ),
    (
        "root not one",
        "variable a { type discrete [2] { x, y }; }\nprobability(a) { table 0.5, 0.498; }",
        "the probabilities of 'a' sum to 0.998, expected 1 (within 0.001)",
        2,
    ),
    ("another order", B + "probability ( b | a ) {\n table 1 0 0 0 1 0; }", "'table' lists the child's first state", 6),
    ("many cells", HUGE, "the table of 'v0' would have 1,000,000,000,000 cells; at most 67,108,864 are read", 13),
    ("many parents", CROWD, "'v64' has 64 parents; at most 63 are read", 66),
    ("many filled tables", FILLED, "with 'v6' the tables together would have 70,000,000 cells", 15),
]


def xml(body, head='<?xml version="1.0"?>\n<BIF VERSION="0.3"><NETWORK>\n', tail="</NETWORK></BIF>"):
    return head + body + tail


VARIABLE = "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n"
DEFINED = "<DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>\n"
LAUGHS = '<!DOCTYPE BIF [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;">\n]>\n<BIF>&b;</BIF>'
FETCHES = '<!DOCTYPE BIF [\n<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<BIF><NETWORK><NAME>&a;</NAME></NETWORK></BIF>'

XML = [
    ("empty", "", "not well-formed XML: no element found", 1),
    ("not XML", "a,b\n1,2\n", "not well-formed XML", 1),
    ("another document", "<html>\n</html>", "the file begins with <html>, <BIF> was expected", 1),
    ("cut", xml(VARIABLE, tail="\n\n"), "not well-formed XML: no element found", 6),
    ("no variables", xml(""), "no variables", None),
    ("another version", '\n<BIF VERSION="0.2"/>', "XMLBIF version '0.2'; 0.3 is read", 2),
    ("two networks", "<BIF><NETWORK/>\n<NETWORK/></BIF>", "a second <NETWORK>", 2),
    ("entities", LAUGHS, "the file declares an entity: remove its DOCTYPE", 2),
    ("fetching entity", FETCHES, "the file declares an entity", 2),
    ("parameter entity", '<!DOCTYPE BIF [\n<!ENTITY % a "x">]>\n<BIF/>', "the file declares an entity", 2),
    (
        "outside DTD",
        '\n<!DOCTYPE BIF SYSTEM "http://localhost/xmlbif.dtd">\n<BIF/>',
        "the DOCTYPE refers to something outside",
        2,
    ),
    ("unknown entity", xml("<VARIABLE><NAME>&nbsp;</NAME></VARIABLE>"), "not well-formed XML: undefined entity", 3),
    ("skipped entity", "<!DOCTYPE BIF [ %p; ]>\n<BIF>&x;</BIF>", "the entity '%p' is not declared", 1),
    (
        "unknown encoding",
        '<?xml version="1.0" encoding="klingon"?><BIF/>',
        "the XML's encoding cannot be read: unknown encoding: klingon",
        1,
    ),
    ("a decision", xml('<VARIABLE TYPE="decision"><NAME>a</NAME></VARIABLE>'), "a variable of type 'decision'", 3),
    ("no name", xml("<VARIABLE><OUTCOME>x</OUTCOME></VARIABLE>"), "<VARIABLE> has 0 <NAME>, one was expected", 3),
    ("two children", xml("<DEFINITION><FOR>a</FOR><FOR>b</FOR></DEFINITION>"), "<DEFINITION> has 2 <FOR>, one was", 3),
    ("no table", xml(VARIABLE + "<DEFINITION><FOR>a</FOR></DEFINITION>"), "<DEFINITION> has 0 <TABLE>", 4),
    ("nested", xml("<VARIABLE>\n<DEFINITION/></VARIABLE>"), "a <DEFINITION> within a <VARIABLE>", 4),
    ("no definition", xml(VARIABLE), "'a' has no table", 3),
    ("no states", xml("<VARIABLE><NAME>a</NAME></VARIABLE>" + DEFINED), "'a' has no states", 3),
    (
        "unknown parent",
        xml(VARIABLE + DEFINED.replace("<TABLE>", "<GIVEN>c</GIVEN>\n<TABLE>")),
        "'a' has the parent 'c'",
        5,
    ),
    (
        "too few",
        xml(VARIABLE + DEFINED.replace("0.5 0.5", "\n1\n")),
        "the table of 'a' has 1 numbers, expected 2 (2)",
        4,
    ),
    ("not one", xml(VARIABLE + DEFINED.replace("0.5 0.5", "0.5 0.6")), "the probabilities of 'a' sum to 1.1", 4),
    ("a bad number", xml(VARIABLE + DEFINED.replace("0.5 0.5", "\n<!--\n-->\n0.5 half")), "'half' is not a number", 7),
]


def model(**changes):
    """Our format, pretty-printed by hand: the first variable begins at line 5, the second at line 6."""
    first = changes.pop("first", {"name": "a", "states": ["x", "y"], "parents": [], "table": [[0.5, 0.5]]})
    second = {"name": "b", "states": [1, 2], "parents": ["a"], "table": [[0, 1], [0.25, 0.75]]} | changes.pop(
        "second", {}
    )
    top = {"format": "leverrier-network", "version": 1, "notes": {"variables": [1, 2]}} | changes.pop("top", {})
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in top.items()]
    return "{" + ",\n".join([*lines, '"variables": [\n' + json.dumps(first) + ",\n" + json.dumps(second) + "]}\n"])


JSON = [
    ("empty", "", "not JSON: Expecting value", 1),
    ("cut", model()[:-20], "not JSON", 6),
    ("another object", '{"a": 1}', 'not a network: "format": "leverrier-network" was expected', None),
    ("a list", "[1]", "not a network", None),
    ("a later version", model(top={"version": 2}), "version 2 of the format; this Leverrier reads version 1", None),
    ("a true version", model(top={"version": True}), "version True of the format", None),
    ("unknown key", model(top={"extra": 1}), "the file has the key 'extra'; the keys are", None),
    ("variables missing", '{"format": "leverrier-network", "version": 1}', '"variables" is missing or null', None),
    ("no variables", '{"format": "leverrier-network", "version": 1, "variables": []}', "no variables", None),
    ("notes no object", model(top={"notes": [1]}), '"notes" must be an object', None),
    ("notes not finite", model(top={"notes": {"x": float("nan")}}), '"notes" must be an object of finite', None),
    ("deep", "[" * 200_000, "nested too deeply", None),
    ("a huge number", '{"format": ' + "9" * 5000 + "}", "a number cannot be read", None),
    (
        "key twice",
        model().replace('"parents": ["a"]', '"parents": ["a"], "states": [1]'),
        "the key 'states' of 'b' is given twice",
        None,
    ),
    ("a variable is text", model(first="a"), "variables[0] is text, an object was expected", 5),
    ("name is a number", model(second={"name": 3}), "the name of variables[1] is 3, some text was expected", 6),
    ("name twice", model(second={"name": "a", "parents": []}), "'a' is declared twice, first at line 5", 6),
    ("a misspelt key", model(second={"parent": ["a"]}), "'b' has the key 'parent'; the keys are name, parents", 6),
    ("states missing", model(second={"states": None}), "states of 'b' is missing or null, a list was expected", 6),
    ("a null state", model(second={"states": [1, None]}), "a state of 'b' is missing or null", 6),
    ("a list as state", model(second={"states": [1, [2]]}), "a state of 'b' is a list", 6),
    ("an infinite state", model(second={"states": [1, float("inf")]}), "a state of 'b' is inf", 6),
    ("equal states", model(second={"states": [1, True]}), "'b' has the state True twice", 6),
    ("half a character", model(second={"states": ["\ud800", 1]}), r"'\ud800' is not valid text", 6),
    ("parent a number", model(second={"parents": [1]}), "a parent of 'b' is 1: a variable's name is needed", 6),
    ("unknown parent", model(second={"parents": ["c"]}), "'b' has the parent 'c'", 6),
    (
        "a cycle",
        model(first={"name": "a", "states": [1, 2], "parents": ["b"], "table": [[0, 1], [0, 1]]}),
        "cycle: ",
        (5, 6),
    ),
    (
        "row too short",
        model(second={"table": [[1], [0.25, 0.75]]}),
        "table[0] of 'b' is a list of 1, a list of 2 numbers",
        6,
    ),
    ("row a number", model(second={"table": [0.25, 0.75]}), "table[0] of 'b' is 0.25, a list of 2 numbers", 6),
    ("rows missing", model(second={"table": [[0, 1]]}), "the table of 'b' has 2 numbers, expected 4 (2 × 2)", 6),
    ("text in a row", model(second={"table": [[0, 1], [0, "1"]]}), "table[1] of 'b' holds '1', a probability was", 6),
    ("true in a row", model(second={"table": [[0, True], [0, 1]]}), "table[0] of 'b' holds True, a probability was", 6),
    ("nan in a row", model(second={"table": [[0, float("nan")], [0, 1]]}), "table[0] of 'b' holds nan", 6),
    ("huge in a row", model(second={"table": [[0, 10**400], [0, 1]]}), "table[0] of 'b' holds 1000", 6),
    ("negative in a row", model(second={"table": [[-0.5, 1.5], [0, 1]]}), "table[0] of 'b' holds -0.5", 6),
    ("not one", model(second={"table": [[0, 1], [0.5, 0.6]]}), "the probabilities of 'b' given a=y sum to 1.1", 6),
]

CASES = [
    pytest.param(suffix, text, message, line, id=f"{suffix}: {name}")
    for suffix, cases in (("bif", BIF), ("xml", XML), ("json", JSON))
    for name, text, message, line in cases
]


@pytest.mark.parametrize(("suffix", "text", "message", "line"), CASES)
def test_a_bad_file_gives_one_clear_line(suffix, text, message, line, tmp_path):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_network(path)
    said = str(caught.value)
    lines = line if isinstance(line, tuple) else (line,)
    places = [f"{path}: " if at is None else f"{path}:{at}: " for at in lines]
    assert message in said
    assert any(said.startswith(place) for place in places), said
    assert "\n" not in said
    assert len(said) < len(str(path)) + 250
    assert isinstance(caught.value, TooLargeError if "are read" in said else FormatError)


@pytest.mark.parametrize("suffix", ["bif", "json"])
def test_a_file_that_is_not_utf8_says_the_line(suffix, tmp_path):
    path = tmp_path / f"latin.{suffix}"
    path.write_bytes("variable a {\n}\nvariable é {}".encode("latin-1"))
    with pytest.raises(FormatError, match=rf"latin\.{suffix}:3: not UTF-8 text: save the file as UTF-8"):
        read_network(path)
