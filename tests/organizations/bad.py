"""Bodies that are no body of anything, for every address that takes one."""

NO_BODY_AT_ALL: list[bytes] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"name": NaN}',
    b'{"name": "a\\u0000b", "email": "a\\u0000b", "id": "\\u0000"}',
    b'{"name": "half \\ud800", "email": "half \\ud800", "id": "\\ud800"}',
    b'{"name": {"a": 1}, "email": [], "id": {}}',
    b'{"name": 5, "email": 5, "id": 5}',
    b'{"name": "x", "extra": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"name": "x", "extra": ' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}",
    b'{"name": "x", "extra": ' + b"9" * 10_000 + b"}",
]
BAD_IDS = ["x", "0" * 32, "0" * 31, "g" * 32, "1" * 400, "%00", "%ff", "🙂"]
