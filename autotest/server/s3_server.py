"""An S3 server in a test: buckets of bytes by path style, for who signs by version 4 or, where there are
no keys, for everybody. Signatures are checked as Amazon describes it (Signature Version 4: canonical
request, string to sign, signing key), those in headers and those in queries.
"""

import hashlib
import hmac
import html
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UNSIGNED = "UNSIGNED-PAYLOAD"


def signature(secret, scope, stamp, canonical):
    """Of a canonical request; `scope` is "20260101/us-east-1/s3/aws4_request"."""
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def problem(self):
        """Why the request is refused, or None."""
        keys = self.server.keys
        if not keys:
            return None
        path, _, query = self.path.partition("?")
        fields = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        header = self.headers.get("Authorization", "")
        if "X-Amz-Signature" in fields:
            given, body = fields.pop("X-Amz-Signature"), UNSIGNED
            who, stamp = fields["X-Amz-Credential"], fields["X-Amz-Date"]
            names = fields["X-Amz-SignedHeaders"]
        elif header.startswith("AWS4-HMAC-SHA256 "):
            parts = dict(re.findall(r"(\w+)=([^, ]+)", header))
            given, who, names = parts["Signature"], parts["Credential"], parts["SignedHeaders"]
            stamp, body = self.headers["x-amz-date"], self.headers["x-amz-content-sha256"]
        else:
            return "AccessDenied"
        identity, _, scope = who.partition("/")
        if identity not in keys:
            return "InvalidAccessKeyId"
        canonical = "\n".join((
            self.command, "/".join(quote(urllib.parse.unquote(part)) for part in path.split("/")),
            "&".join(sorted(f"{quote(name)}={quote(value)}" for name, value in fields.items())),
            *(f"{name}:{self.headers[name].strip()}" for name in names.split(";")), "", names, body))
        right = signature(keys[identity], scope, stamp, canonical)
        if not hmac.compare_digest(right, given):
            return "SignatureDoesNotMatch"
        payer = fields.get("x-amz-request-payer") or self.headers.get("x-amz-request-payer")
        return "AccessDenied" if self.server.payer and payer != self.server.payer else None

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def list(self, bucket, query):
        """Answers ListObjectsV2, and ListObjects, which GDAL asks for, `page` keys at a time."""
        asked = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        begin, delimiter = f"/{bucket}/", asked.get("delimiter")
        prefix = asked.get("prefix", "")
        after = asked.get("continuation-token", asked.get("marker", ""))
        found = {}  # a folder stands for what is in it
        for name in self.server.objects:
            key = name[len(begin):]
            if not name.startswith(begin) or not key.startswith(prefix):
                continue
            slash = key.find(delimiter, len(prefix)) if delimiter else -1
            found[key if slash < 0 else key[:slash + 1]] = slash >= 0
        names = sorted((name for name in found if name > after), key=str.encode)
        shown, is_cut = names[:self.server.page], len(names) > self.server.page
        text = ['<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
                f"<Name>{bucket}</Name><Prefix>{html.escape(prefix)}</Prefix><IsTruncated>{str(is_cut).lower()}</IsTruncated>"]
        is_encoded = asked.get("encoding-type") == "url"
        if is_encoded:
            text.append("<EncodingType>url</EncodingType>")
        for name in shown:
            when = self.server.modified.get(begin + name)
            modified = f"<LastModified>{when}</LastModified>" if when else ""
            quoted = urllib.parse.quote_plus(name, safe="/") if is_encoded else html.escape(name)
            text.append(f"<CommonPrefixes><Prefix>{quoted}</Prefix></CommonPrefixes>" if found[name] else
                        f"<Contents><Key>{quoted}</Key><Size>{len(self.server.objects[begin + name])}</Size>"
                        f"{modified}</Contents>")
        if is_cut:
            token = "NextContinuationToken" if "list-type" in asked else "NextMarker"
            text.append(f"<{token}>{html.escape(shown[-1])}</{token}>")
        self.answer(200, "".join(text + ["</ListBucketResult>"]).encode(), Content_Type="application/xml")

    def refuse(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code></Error>".encode(), Content_Type="application/xml")

    def parse_request(self):
        parsed = super().parse_request()
        if parsed:
            self.server.headers.append((self.command, dict((name.lower(), value) for name, value in self.headers.items())))
        return parsed

    def do_GET(self):
        path = urllib.parse.unquote(self.path.partition("?")[0])
        self.server.asked.append((self.command, path, self.headers.get("Range"), self.problem()))
        if self.server.asked[-1][3]:
            return self.refuse(403, self.server.asked[-1][3])
        self.server.before(self.command, path)
        bucket, query = path.split("/")[1], self.path.partition("?")[2]
        refused = self.server.refused(path, query)
        if refused:
            return self.refuse(*refused)
        if not any(name.startswith(f"/{bucket}/") for name in self.server.objects):
            return self.refuse(404, "NoSuchBucket")
        if "list-type=2" in query.split("&") or path.strip("/") == bucket:
            return self.list(bucket, query)
        content = self.server.objects.get(path)
        if content is None:
            return self.refuse(404, "NoSuchKey")
        tags = {"ETag": self.server.tag(content)} if self.server.tag(content) else {}
        asked = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range") or "")
        if not asked:
            return self.answer(200, content, Accept_Ranges="bytes", **tags)
        first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        if first > last:
            return self.refuse(416, "InvalidRange")
        return self.answer(206, content[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(content)}", **tags)

    do_HEAD = do_GET

    def do_PUT(self):
        """Conditions hold, are passed over, or are refused with a status and a code, as the server's `conditions` says."""
        path = urllib.parse.unquote(self.path.partition("?")[0])
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, path, None, self.problem()))
        if self.server.asked[-1][3]:
            return self.refuse(403, self.server.asked[-1][3])
        self.server.before(self.command, path)
        there = self.server.objects.get(path)
        tag = there is not None and self.server.tag(there)
        match, none = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        if isinstance(self.server.conditions, tuple) and (match or none):
            return self.refuse(*self.server.conditions)
        if self.server.conditions == "hold" and ((match and match not in (tag, "*")) or (none and there is not None)):
            return self.refuse(412, "PreconditionFailed")
        self.server.objects[path] = body
        if self.server.is_lost(path):
            return self.refuse(500, "InternalError")
        self.answer(200, b"", ETag=f'"{hashlib.md5(body).hexdigest()}"')

    def do_DELETE(self):
        path = urllib.parse.unquote(self.path.partition("?")[0])
        self.server.asked.append((self.command, path, None, self.problem()))
        if self.server.asked[-1][3]:
            return self.refuse(403, self.server.asked[-1][3])
        self.server.objects.pop(path, None)
        self.answer(204, b"")


class S3Server(ThreadingHTTPServer):
    """Serves `objects`, {"/bucket/key": bytes}, to `keys`, {identity: secret}, until close(). `asked`
    has method, path, range and refusal of each request, `headers` method and headers. Before each is answered before(method, path) is
    called; refused(path, query) is the status and code that a GET fails with, or None; of conditions see do_PUT. tag(content) is the ETag, or None;
    is_lost(path) is whether a PUT that is carried out is answered as a failure. Lists have `page` names each, with the times `modified`, {"/bucket/key": "2026-08-01T04:00:00.000Z"}. Where `payer` is
    set, requests must say so."""

    daemon_threads = True

    def __init__(self, objects, keys):
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects, self.keys, self.asked, self.page, self.payer = objects, keys, [], 1000, None
        self.headers, self.modified = [], {}
        self.conditions, self.before = "hold", lambda method, path: None
        self.refused, self.is_lost = lambda path, query: None, lambda path: False
        self.tag = lambda content: f'"{hashlib.md5(content).hexdigest()}"'
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self.shutdown()
        self.server_close()
        self._thread.join()
