"""Replaces the values that must differ between two servers: identifiers, times, revisions and saved values."""
import base64
import datetime
import json
import re

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
REVISION = re.compile(r'(\\*"resourceVersion\\*": ?\\*")[1-9]\d*(\\*")')
AGE = re.compile(r'"(\d+[smhd]){1,2}"')
CONTINUE = re.compile(r'"continue":"([A-Za-z0-9_=-]+)"')
BOOKMARK = re.compile(r'^\{"type":"BOOKMARK"(?!.*initial-events-end).*\n', re.M)
WORDS = [
    (re.compile(r"kube-api-access-[a-z0-9]{5}\b"), "kube-api-access-<random>"),
    (re.compile(r'resourceVersion: "\d+"'), 'resourceVersion: "<rv>"'),  # YAML
    (re.compile(r"in record \(\d+\)"), "in record (<rv>)"),
    (re.compile(r"ResourceVersion in the precondition \([1-9]\d+\)"), "ResourceVersion in the precondition (<rv>)"),
    (re.compile(r"\(current: \d+\)"), "(current: <rv>)"),
    (re.compile(r"too old resource version: (\d+) \(\d+\)"), r"too old resource version: \1 (<rv>)"),
    (re.compile(r"current: \d+"), "current: <rv>"),
    (re.compile(r"selfType\d+"), "selfType<random>"),
]


def today():
    now = datetime.datetime.now(datetime.timezone.utc)
    days = {(now + datetime.timedelta(days=d)).strftime("%Y-%m-%d") for d in (-1, 0, 1)}
    return re.compile(rf"({'|'.join(sorted(days))})T\d\d:\d\d:\d\d(\.\d+)?Z")


def token(match):
    """Returns a continue token with its revision replaced."""
    padded = match[1] + "=" * (-len(match[1]) % 4)
    try:
        content = json.loads(base64.urlsafe_b64decode(padded))
    except ValueError:
        return match[0]
    if "rv" in content and content["rv"] > 0:
        content["rv"] = "<rv>"
    return f'"continue":{json.dumps("<" + json.dumps(content) + ">")}'


def text(raw, side):
    """Returns a body or a header value with these values replaced."""
    raw = raw.replace(side.address, "<server>")
    for name, value in sorted(side.saved.items(), key=lambda item: -len(str(item[1]))):
        value = str(value)
        if value.isdigit() and len(value) < 5:  # a small number is replaced only as a complete string, such as a revision
            raw = re.sub(rf'(?<="){value}(?=\\?")', f"<{name}>", raw)
        elif len(value) >= 2:
            raw = re.sub(rf"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])", f"<{name}>", raw)
    raw = UID.sub("<uid>", raw)
    raw = today().sub("<time>", raw)
    raw = REVISION.sub(r"\1<rv>\2", raw)
    raw = CONTINUE.sub(token, raw)
    raw = BOOKMARK.sub("", raw)
    if '"kind":"Table"' in raw:
        raw = AGE.sub('"<age>"', raw)
    for pattern, instead in WORDS:
        raw = pattern.sub(instead, raw)
    return raw
