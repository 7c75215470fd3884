#!/usr/bin/env python3
"""Prints random expressions over the variables of the table (tests/cel/README.md), one per line: random_expressions.py COUNT SEED.

Most expressions are built from TEMPLATES, so that they have a type; some places get a value of another type, so that compilers and evaluations fail.
The others are expressions of the table that are combined, or of which some tokens are removed, repeated or exchanged.
"""
import pathlib
import random
import re
import sys

# Templates by type. "{t}" is an expression of the type t, and "{t@u}" one in which the variable "@" of the enclosing macro has the type u.
TEMPLATES = {
    "int": """0|1|-1|7|42|9223372036854775807|-9223372036854775808|0x1f|i|self.replicas|ints[{int}]|{int} + {int}|{int} - {int}|{int} * {int}|{int} / {int}|{int} % {int}|-{int}|-({int})
        |size({string})|{string}.size()|size({ints})|{strs}.size()|size({map})|size({bytes})|int({uint})|int({double})|int({string})|int({time})|int({int})|{bool} ? {int} : {int}|{ints}[{int}]
        |{string}.indexOf({string})|{string}.indexOf({string}, {int})|{string}.lastIndexOf({string})|{ints}.sum()|{ints}.min()|{ints}.max()|{ints}.indexOf({int})|{strs}.lastIndexOf({string})
        |{time}.getFullYear()|{time}.getMonth()|{time}.getDayOfYear()|{time}.getDate()|{time}.getDayOfMonth()|{time}.getDayOfWeek()|{time}.getHours({zone})|{time}.getMinutes({zone})|{time}.getSeconds()|{time}.getMilliseconds()
        |{span}.getHours()|{span}.getMinutes()|{span}.getSeconds()|{span}.getMilliseconds()|{optint}.orValue({int})|{optint}.value()|{quantity}.asInteger()|sign({quantity})|{quantity}.compareTo({quantity})
        |{semver}.major()|{semver}.minor()|{semver}.patch()|{semver}.compareTo({semver})|{ip}.family()|{cidr}.prefixLength()|object.spec.replicas|object.spec.containers[{int}].ports[{int}]|self.ports[{int}].port
        |self.ports.map(@, @.port).sum()|{ints}.filter(@, {bool@int}).size()|{ints}.map(@, {int@int})[0]|params.max|self.nested.list[{int}][{int}]|self.open.known|dyn({int})|{ints}.first().orValue({int})|{ints}.last().value()
        |google.protobuf.Int64Value{value: {int}}|google.protobuf.Int32Value{value: {int}}|cel.bind(@, {int}, {int@int})|({int})|self.embedded.spec.x""",
    "uint": "0u|1u|9u|18446744073709551615u|u|{uint} + {uint}|{uint} - {uint}|{uint} * {uint}|{uint} / {uint}|{uint} % {uint}|uint({int})|uint({double})|uint({string})|{bool} ? {uint} : {uint}|dyn({uint})|uint({uint})|google.protobuf.UInt64Value{value: {uint}}|google.protobuf.UInt32Value{value: {uint}}",
    "double": """0.0|1.0|2.5|-0.5|1e10|1e-7|.5|1.7976931348623157e308|d|self.ratio|object.spec.ratio|{double} + {double}|{double} - {double}|{double} * {double}|{double} / {double}|-{double}|double({int})|double({uint})
        |double({string})|double('NaN')|double('-Infinity')|{quantity}.asApproximateFloat()|{bool} ? {double} : {double}|[{double}, {double}].sum()|[{double}, {double}, {double}].max()|dyn({double})|google.protobuf.DoubleValue{value: {double}}|google.protobuf.FloatValue{?value: optional.of({double})}""",
    "bool": """true|false|b|self.paused|object.spec.on|{bool} && {bool}|{bool} \\| {bool}|!{bool}|!({bool})|{int} == {int}|{int} != {int}|{int} < {int}|{int} <= {int}|{int} > {int}|{int} >= {int}|{int} < {uint}|{double} >= {int}
        |{uint} > {double}|{string} == {string}|{string} < {string}|{string} >= {string}|{bytes} < {bytes}|{bytes} == {bytes}|{double} == {double}|{bool} == {bool}|{bool} < {bool}|{time} < {time}|{time} == {time}|{span} > {span}
        |{int} in {ints}|{string} in {strs}|{string} in {map}|{ints} == {ints}|{map} == {map}|{strs} != {strs}|dyn({int}) == dyn({double})|dyn({any}) == dyn({any})|dyn({any}) != dyn({any})|dyn({any}) < dyn({any})
        |dyn({int}) in [{double}, {double}]|{string}.contains({string})|{string}.startsWith({string})|{string}.endsWith({string})|{string}.matches({pattern})|matches({string}, {pattern})|bool({string})|{bool} ? {bool} : {bool}
        |{ints}.all(@, {bool@int})|{ints}.exists(@, {bool@int})|{ints}.exists_one(@, {bool@int})|{strs}.all(@, {bool@string})|{strs}.existsOne(@, {bool@string})|{map}.all(@, {bool@string})|{map}.exists(@, {bool@string})
        |{ints}.all(@, w, {bool@int})|{map}.exists(@, w, {bool@string})|{ints}.existsOne(@, w, w > 0 && {bool@int})|has(self.{field})|has(object.{field})|has(self.ports[{int}].protocol)|has({map}.app)|{optint}.hasValue()
        |{optint} == {optint}|{optstr}.hasValue()|{ints}.isSorted()|{strs}.isSorted()|sets.contains({ints}, {ints})|sets.intersects({strs}, {strs})|sets.equivalent({ints}, {ints})|isQuantity({string})|isURL({string})|isIP({string})
        |isCIDR({string})|isSemver({string})|{quantity}.isInteger()|{quantity}.isLessThan({quantity})|{quantity}.isGreaterThan({quantity})|{quantity} == {quantity}|{semver}.isLessThan({semver})|{semver} == {semver}|{ip} == {ip}
        |{ip}.isLoopback()|{ip}.isGlobalUnicast()|{ip}.isLinkLocalMulticast()|{ip}.isUnspecified()|{cidr}.containsIP({ip})|{cidr}.containsCIDR({cidr})|{cidr}.containsIP({string})|{cidr} == {cidr}|{url} == {url}|ip.isCanonical({string})
        |format.dns1123Label().validate({string}).hasValue()|format.qualifiedName().validate({string}) == optional.none()|{type} == {type}|type({any}) == {type}|self.ports.all(@, @.port > {int})|self.tags.exists(@, {bool@string})
        |self.limits.all(@, {bool@string})|object.spec.containers.all(@, @.image.contains({string}))|object.spec.mixed.exists(@, @ == {any})|quantity({string}).isInteger()|({bool})|absent == {string}|{bool} \\| absent == 'x'|absent == 'x' && {bool}
        |object.spec.missing == {any}|self.port == {string}|self.port == {int}|self.nullable == null|self.startTime < {time}|self.timeout < {span}|{any} == null|dyn({list}) == dyn({list})|{list}.size() > {int}""",
    "string": """''|'a'|'b'|'web'|"grüße"|'😀x'|'a,b,c'|'1'|'-17'|'1.5'|'true'|'1.2.3'|'10.0.0.1'|'10.0.0.0/8'|'::1'|'1Gi'|'https://a.b:80/p?q=1'|'2026-01-02T03:04:05Z'|'1h'|r'\\d+'|'\\u00e9\\n\\t'|s|absent|self.name|self.enum|self.namespace
        |self.kube__dash__field|self.a__dot__b|{string} + {string}|{strs}[{int}]|labels['app']|{map}[{string}]|{string}.charAt({int})|{string}.lowerAscii()|{string}.upperAscii()|{string}.trim()|{string}.reverse()
        |{string}.replace({string}, {string})|{string}.replace({string}, {string}, {int})|{string}.substring({int})|{string}.substring({int}, {int})|{strs}.join({string})|{strs}.join()|strings.quote({string})|{string}.find({pattern})
        |string({int})|string({uint})|string({double})|string({bytes})|string({bool})|string({time})|string({span})|string({ip})|string({cidr})|string({string})|{bool} ? {string} : {string}|{optstr}.orValue({string})|{optstr}.value()
        |'%s|%d'.format([{any}, {int}])|'%s'.format([{any}])|'%.2f %e'.format([{double}, {double}])|'%x %X %o %b'.format([{int}, {string}, {int}, {int}])|'%s'.format([{list}])|{url}.getScheme()|{url}.getHost()|{url}.getHostname()|{url}.getPort()
        |{url}.getEscapedPath()|object.metadata.name|object.spec.containers[{int}].image|object.metadata.labels['a.b/c']|params.nested.k|params.names[{int}]|self.ports[{int}].name|self.nested.a.b|self.labels[{string}]|self.tags[{int}]
        |google.protobuf.StringValue{value: {string}}|jsonpatch.escapeKey({string})|JSONPatch{op: {string}, path: {string}}.op|dyn({string})|{strs}.min()|{strs}.max()|{strs}.filter(@, {bool@string}).join('-')|{strs}.map(@, {string@string}).join({string})|{string}.trim().lowerAscii()|({string})|{map}[?{string}].orValue({string})|{ints}.map(@, string(@)).join('+')""",
    "bytes": "b''|b'a'|b'\\xff'|x|self.data|bytes({string})|{bytes} + {bytes}|{bool} ? {bytes} : {bytes}|dyn({bytes})|google.protobuf.BytesValue{value: {bytes}}",
    "time": """t|timestamp('2026-01-02T03:04:05Z')|timestamp('1969-12-31T23:59:59.999999999Z')|timestamp('9999-12-31T23:59:59Z')|timestamp('2024-02-29T00:00:00+05:30')|timestamp({int})|timestamp({string})|{time} + {span}|{span} + {time}|{time} - {span}
        |self.startTime|self.day|{bool} ? {time} : {time}|timestamp({time})|dyn({time})|google.protobuf.Timestamp{seconds: {int}, nanos: {int}}""",
    "span": "dur|duration('1h')|duration('-1.5s')|duration('1h2m3.4s')|duration('0')|duration('2562047h47m16.854775807s')|duration({string})|{span} + {span}|{span} - {span}|{time} - {time}|-{span}|self.timeout|{bool} ? {span} : {span}|duration({span})|dyn({span})|google.protobuf.Duration{seconds: {int}, nanos: {int}}",
    "zone": "'America/New_York'|'-02:30'|'Asia/Kolkata'|'UTC'|'Europe/Berlin'|'Nowhere'|'25:00'|{string}",
    "ints": """ints|[]|[1]|[{int}]|[{int}, {int}]|[{int}, {int}, {int}]|[?{optint}, {int}]|{ints} + {ints}|{ints}.filter(@, {bool@int})|{ints}.map(@, {int@int})|{ints}.map(@, {bool@int}, {int@int})|{strs}.map(@, {int@string})|{ints}.sort()|{ints}.reverse()|{ints}.distinct()
        |{ints}.slice({int}, {int})|[{ints}, {ints}].flatten()|self.nested.list[{int}]|object.spec.containers[{int}].ports|{bool} ? {ints} : {ints}|lists.range(0)|lists.range(3)|lists.range(dyn(2))|{ints}.transformList(@, w, {int@int})|{ints}.transformList(@, w, w > 1, {int@int})|dyn({ints})
        |{ints}.sortBy(@, {int@int})|self.ports.map(@, @.port)""",
    "strs": """strs|self.tags|self.set|params.names|['a', 'b']|[{string}]|[{string}, {string}]|[{string}, {string}, {string}]|{strs} + {strs}|{strs}.filter(@, {bool@string})|{strs}.map(@, {string@string})|{ints}.map(@, {string@int})|{string}.split({string})
        |{string}.split({string}, {int})|{string}.findAll({pattern})|{string}.findAll({pattern}, {int})|{strs}.sort()|{strs}.reverse()|{strs}.distinct()|{strs}.slice({int}, {int})|{bool} ? {strs} : {strs}|dyn({strs})|{strs}.sortBy(@, {int@string})
        |self.ports.map(@, @.name)|object.spec.containers.map(@, @.name)|[{strs}, {strs}].flatten()""",
    "list": "{ints}|{strs}|object.spec.mixed|[{any}, dyn({any})]|[[{int}], [{int}]]|object.none|self.ports|[{ints}, {strs}].flatten()|self.nested.list|[dyn({any}), {any}].distinct()|[{double}, {double}].sort()|{list}.reverse()|{map}.map(@, 1)|[{list}, [dyn(1)]].flatten({int})|google.protobuf.ListValue{values: {list}}",
    "map": """labels|{}|{'a': {string}}|{'app': {string}, 'b': {string}}|{?'app': {optstr}}|self.labels|object.metadata.labels|{map}.transformMap(@, w, {string@string})|{strs}.transformMapEntry(@, w, {w: string(@)})|{bool} ? {map} : {map}|dyn({map})
        |{map}.transformMap(@, w, w > {string}, {string@string})|{map}.transformMapEntry(@, w, {@: w + {string}})|google.protobuf.Struct{fields: {map}}""",
    "optint": "optional.of({int})|optional.none()|optional.ofNonZeroValue({int})|{ints}.first()|{ints}.last()|ints[?{int}]|self.?replicas|object.spec.?replicas|object.?missing.?replicas|{optint}.or({optint})|{optint}.optMap(@, {int@int})|{optint}.optFlatMap(@, {optint@int})|self.ports[?{int}].?port|[{int}][?{int}]",
    "optstr": "optional.of({string})|optional.none()|optional.ofNonZeroValue({string})|{strs}.first()|labels.?app|labels[?{string}]|self.?name|object.metadata.?name|{optstr}.or({optstr})|{optstr}.optMap(@, {string@string})|{optint}.optMap(@, {string@int})|self.ports[?{int}].?protocol|{map}.?tier|self.raw.?any",
    "quantity": "quantity('1')|quantity('1.5Gi')|quantity('-100m')|quantity('1e3')|quantity('200k')|quantity({string})|{quantity}.add({quantity})|{quantity}.sub({quantity})|{quantity}.add({int})|{quantity}.sub({int})",
    "semver": "semver('1.2.3')|semver('0.0.1-alpha.1+b')|semver('10.20.30')|semver({string})|semver('v1.2', true)|semver({string}, {bool})",
    "ip": "ip('10.0.0.1')|ip('::1')|ip('fe80::1')|ip('224.0.0.1')|ip('0.0.0.0')|ip({string})|{cidr}.ip()",
    "cidr": "cidr('10.0.0.0/8')|cidr('fd00::/64')|cidr('10.1.2.3/16')|cidr('0.0.0.0/0')|cidr({string})|{cidr}.masked()",
    "url": "url('https://example.com:8080/a%20b?x=1&y=2')|url('http://[::1]/')|url('/path')|url({string})",
    "type": "int|string|bool|double|uint|bytes|list|map|null_type|type|type({any})|type({list})|google.protobuf.Timestamp|google.protobuf.Duration",
    "pattern": "'^[a-z]+$'|'.*'|'a|b'|'(\\\\d+)'|'['|'w.b'|'(?i)WEB'|'\\\\pL+'|'^$'|{string}",
    "field": "name|replicas|missing|labels|nested.a.b|nested|ports|raw.any|open.other|nullable|metadata.name|spec.host|spec.missing.x|embedded.kind|spec",
    "any": "{int}|{uint}|{double}|{bool}|{string}|{bytes}|{time}|{span}|{ints}|{strs}|{list}|{map}|null|{optint}|{optstr}|{quantity}|{semver}|{ip}|{cidr}|{url}|{type}|object|self.raw|self.open.other|object.spec.host|self.embedded.kind|object.spec.mixed[{int}]|self.limits[{string}]|google.protobuf.Value{string_value: {string}}|google.protobuf.Value{list_value: {list}}|google.protobuf.Empty{}|JSONPatch{op: 'add', path: {string}, value: {any}}.value|dyn({any})",
}
HOLE = re.compile(r"\{(\w+)(?:@(\w+))?\}")
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|&&|\|\||[=!<>]=|\s+|.")


def split(templates):
    # "|" separates templates, except in quotes; "\|" stands for the operator "||".
    parts = re.findall(r"(?:'(?:[^'\\]|\\.)*'|\"[^\"]*\"|\\\||[^|'\"])+", templates)
    return [part.strip().replace("\\|", "||") for part in parts if part.strip()]


ALTERNATIVES = {name: split(text) for name, text in TEMPLATES.items()}
LEAVES = {name: [one for one in all_ if not HOLE.search(one)] or all_ for name, all_ in ALTERNATIVES.items()}
ATOMIC = re.compile(r"^[\w.'\"]+$|^[\w.]*\([^()]*\)$|^\[[^\[\]]*\]$")


class Generator:
    def __init__(self, seed, table):
        self.random, self.table = random.Random(seed), table

    def typed(self, name, depth, scope=()):
        choose = self.random
        if name in TEMPLATES and name not in ("field", "pattern", "zone") and choose.random() < 0.02:
            other = choose.choice(["int", "string", "bool", "double", "ints", "map", "time", "uint", "any"])
            inner = self.typed(other, depth - 1, scope)
            return inner if choose.random() < 0.2 else f"dyn({inner})"
        known = [variable for variable, kind in scope if kind == name]
        if known and choose.random() < 0.5:
            return choose.choice(known)
        template = choose.choice((ALTERNATIVES if depth > 0 else LEAVES)[name])
        variable = f"v{len(scope)}" if choose.random() < 0.9 else "v0"

        def fill(match):
            kind, bound = match.groups()
            inner = self.typed(kind, depth - choose.choice((1, 1, 2)), scope + (((variable, bound),) if bound else ()))
            whole = match.group(0) == template or template[match.start() - 1:match.start()] in ("(", "[") and template[match.end():match.end() + 1] in (")", "]", ",")
            return inner if whole or kind == "field" or ATOMIC.match(inner) or choose.random() < 0.03 else f"({inner})"

        return HOLE.sub(fill, template).replace("@", variable)

    def combined(self):
        one, two = self.random.choice(self.table), self.random.choice(self.table)
        form = self.random.choice(["({0}) == ({1})", "[{0}, {1}]", "b ? ({0}) : ({1})", "[{0}].map(v, {1})", "dyn({0}) == dyn({1})", "{{'a': {0}}}.a == ({1})", "optional.of({0}).optMap(v, {1})", "type({0}) == type({1})", "string({0}) + string({1})",
                                   "has(self.name) && ({0}) != ({1})", "[{0}].exists(v, v == ({1}))", "dyn({0}) in [{1}]", "'%s %s'.format([{0}, {1}])", "{{{0}: {1}}}", "dyn({0}) + dyn({1})", "({0}) < ({1})", "[dyn({0}), {1}].distinct()"])
        return form.format(one, two)

    def broken(self):
        tokens = TOKEN.findall(self.random.choice(self.table))
        for _ in range(self.random.choice((1, 1, 2))):
            at, other = self.random.randrange(len(tokens)), TOKEN.findall(self.random.choice(self.table))
            change = self.random.randrange(4)
            tokens[at:at + 1] = ([], [tokens[at]] * 2, [self.random.choice(other)], [self.random.choice(other), tokens[at]])[change]
            tokens = tokens or ["1"]
        return "".join(tokens)

    def expression(self):
        kind = self.random.random()
        if kind < 0.75:
            return self.typed("any" if kind < 0.4 else "bool", self.random.choice((2, 3, 4, 5)))
        return self.combined() if kind < 0.92 else self.broken()


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    folder = pathlib.Path(__file__).parent / "expressions"
    table = [line for path in sorted(folder.glob("*.txt")) for line in path.read_text().splitlines() if line and len(line) < 200]
    generator, seen = Generator(seed, table), set()
    while len(seen) < count:
        expression = generator.expression().replace("\n", "⏎")
        if expression not in seen and len(expression) < 600:
            seen.add(expression)
            print(expression)


if __name__ == "__main__":
    main()
