"""Sets on servers that the project did not write: see network.sh, which installs them.

usage: network.py FOLDER    with moto/bin/moto_server and azurite/node_modules below, as far as they
                            are there; tinyproxy and nginx are looked for in the path
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "server"))
from served import CERTIFICATE, KEY, Folder  # noqa: E402

BANDS, WIDTH = 60, 5000
ACCOUNT = "devstoreaccount1"
# The key that Azurite is published with.
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

CHILD = """
import json, sys, time
from osgeo import gdal
gdal.UseExceptions()
begin = time.monotonic()
try:
    dataset = gdal.Open(f'REFS:"{sys.argv[1]}":/v')
    pixels = dataset.ReadAsArray().ravel().tolist()
    said = "right" if pixels == list(range(int(sys.argv[2]))) else "WRONG PIXELS"
    requests = dataset.GetMetadata("REFS").get("REQUESTS", "-")
except RuntimeError as error:
    said, requests = f"error: {error}", "-"
print(json.dumps([said, time.monotonic() - begin, requests]))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Servers:
    """Programs that listen, ended at the end."""

    def __init__(self, folder):
        self.folder, self._running = folder, []

    def start(self, name, port, command, **arguments):
        with open(os.path.join(self.folder.path, f"{name}.log"), "w", encoding="utf-8") as log:
            self._running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=log, **arguments))
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"{name} does not start")

    def close(self):
        for process in self._running:
            process.terminate()
            process.wait()


def put(url, content):
    headers = {"Content-Type": "application/octet-stream", "x-amz-acl": "public-read"}
    urllib.request.urlopen(urllib.request.Request(url, content, headers, method="PUT"), timeout=60)


# -- servers: each gives rows of scheme, credentials, name, options, what is expected ----------------


def moto(servers, programs):
    program = os.path.join(programs, "moto/bin/moto_server")
    if not os.access(program, os.X_OK):
        return
    port = free_port()
    servers.start("moto", port, [program, "-H", "127.0.0.1", "-p", str(port)])
    base = f"http://127.0.0.1:{port}/data"
    put(base, None)
    for name in ("refs.json", "v.bin"):
        put(f"{base}/{name}", servers.folder.read(name))
    store = {"AWS_S3_ENDPOINT": f"127.0.0.1:{port}", "AWS_HTTPS": "NO", "AWS_VIRTUAL_HOSTING": "FALSE"}
    keys = {**store, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
    yield "s3", "keys", "s3://data/refs.json", {**keys, "AWS_REGION": "us-east-1"}, "right"
    yield "s3", "keys, other region", "s3://data/refs.json", {**keys, "AWS_REGION": "eu-west-1"}, "right"
    yield "s3", "keys, a password", "s3://data/refs.json", {**keys, "GDAL_HTTP_USERPWD": "a:b"}, "right"
    yield "s3", "payer", "s3://data/refs.json", {**keys, "AWS_REQUEST_PAYER": "requester"}, "right"
    yield "s3", "none", "s3://data/refs.json", {**store, "AWS_NO_SIGN_REQUEST": "YES"}, "right"
    yield "s3", "keys, no bucket", "s3://none/refs.json", keys, "error"
    config = servers.folder.file("s3nc.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"version": "9", "hosts": {"s3://store": {
            "url": f"http://127.0.0.1:{port}", "credentials": {"accessKey": "id", "secretKey": "secret"}}}}, file)
    yield "s3", "alias", "s3://store/data/refs.json", {"S3NC_CONFIG": config}, "right"


def azurite(servers, programs):
    program = os.path.join(programs, "azurite/node_modules/.bin/azurite-blob")
    if not os.access(program, os.X_OK):
        return
    port = free_port()
    servers.start("azurite", port, [program, "--silent", "--inMemoryPersistence", "--skipApiVersionCheck",
                                    "--blobHost", "127.0.0.1", "--blobPort", str(port)])
    endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
    keys = {"AZURE_STORAGE_CONNECTION_STRING":
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};"
            f"BlobEndpoint={endpoint}"}
    copy = ("import sys; from osgeo import gdal; gdal.UseExceptions(); gdal.Mkdir('/vsiaz/data', 0)\n"
            "for name in ('refs.json', 'v.bin'):\n"
            "    content = open(f'{sys.argv[1]}/{name}', 'rb').read()\n"
            "    file = gdal.VSIFOpenL(f'/vsiaz/data/{name}', 'wb')\n"
            "    gdal.VSIFWriteL(content, 1, len(content), file); gdal.VSIFCloseL(file)")
    done = subprocess.run([sys.executable, "-c", copy, servers.folder.served], check=False,
                          env={**os.environ, **keys}, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print("left out: Azurite takes no files:", done.stderr.strip().split("\n")[-1], file=sys.stderr)
        return
    yield "az", "account key", "az://data/refs.json", keys, "right"
    wrong = base64.b64encode(b"wrong").decode()
    yield "az", "wrong key", "az://data/refs.json", {
        name: value.replace(ACCOUNT_KEY, wrong) for name, value in keys.items()}, "error"


def nginx(servers, _):
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        return
    ports = [free_port() for _ in range(4)]
    path = servers.folder.path
    os.chmod(path, 0o755)
    temporary = "".join(f"{kind}_temp_path {path}/{kind};" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(servers.folder.file("nginx.conf"), "w", encoding="utf-8") as file:
        file.write(f"""
            daemon off; master_process off; pid {path}/pid; error_log {path}/error.log; events {{}}
            http {{
                access_log off; {temporary} root {servers.folder.served};
                limit_conn_zone $server_port zone=few:1m;
                limit_req_zone $server_port zone=slow:1m rate=20r/s;
                server {{ listen 127.0.0.1:{ports[0]}; }}
                server {{ listen 127.0.0.1:{ports[1]} ssl http2; ssl_certificate {CERTIFICATE};
                         ssl_certificate_key {KEY}; }}
                server {{ listen 127.0.0.1:{ports[2]}; limit_rate 200k;
                         location /v.bin {{ limit_conn few 4; }} }}
                server {{ listen 127.0.0.1:{ports[3]}; location /v.bin {{ limit_req zone=slow;
                         limit_req_status 429; }} }}
            }}""")
    servers.start("nginx", ports[3], [program, "-c", servers.folder.file("nginx.conf")])
    url = "{}://127.0.0.1:{}/refs.json"
    yield "http", "none", url.format("http", ports[0]), {}, "right"
    yield "https", "HTTP/2, its CA", url.format("https", ports[1]), {"CURL_CA_BUNDLE": CERTIFICATE}, "right"
    yield "https", "HTTP/1.1, its CA", url.format("https", ports[1]), {
        "CURL_CA_BUNDLE": CERTIFICATE, "GDAL_HTTP_VERSION": "1.1"}, "right"
    yield "https", "unknown CA", url.format("https", ports[1]), {}, "error"
    yield "http", "4 at a time, else 503", url.format("http", ports[2]), {}, "right"
    yield "http", "20 a second, else 429", url.format("http", ports[3]), {}, "right"


def proxy(servers, _):
    program = shutil.which("tinyproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None or shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        return
    open_port, closed_port = free_port(), free_port()
    for port, more in ((open_port, ""), (closed_port, "BasicAuth user pass\n")):
        with open(servers.folder.file(f"proxy{port}"), "w", encoding="utf-8") as file:
            file.write(f"Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 100\n"
                       f"Allow 127.0.0.1\n{more}")
        servers.start(f"proxy{port}", port, [program, "-d", "-c", servers.folder.file(f"proxy{port}")])
    for scheme, _, url, more, expected in list(nginx(servers, _))[:2]:
        for said, port, password in (("open", open_port, None), ("password", closed_port, "user:pass")):
            values = {**more, "GDAL_HTTP_PROXY": f"http://127.0.0.1:{port}"}
            if password:
                values["GDAL_HTTP_PROXYUSERPWD"] = password
            yield scheme, said, url, values, expected
        yield scheme, "wrong password", url, {
            **more, "GDAL_HTTP_PROXY": f"http://127.0.0.1:{closed_port}",
            "GDAL_HTTP_PROXYUSERPWD": "user:wrong"}, "error"


# -- the table -------------------------------------------------------------------------------------


def measure(name, engine, values):
    home = {"HOME": "/nonexistent"}
    child = subprocess.run([sys.executable, "-c", CHILD, name, str(BANDS * WIDTH)], check=False,
                           env={**os.environ, **home, **values, "REFS_HTTP_ENGINE": engine},
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if child.returncode != 0:
        return f"FAILED: {child.stderr.strip()[-200:]}", 0, "-"
    return json.loads(child.stdout)


def main():
    folder = Folder()
    servers = Servers(folder)
    folder.write_array(BANDS, WIDTH, chunk_gap=100000)
    n_other = 0
    print(f"{'server':10} {'scheme':6} {'credentials, limits':22} {'engine':6} {'s':>6} {'requests':>8}  result")
    try:
        for server in (moto, azurite, nginx, proxy):
            for scheme, credentials, name, values, expected in server(servers, sys.argv[1]):
                for engine in ("CURL", "VSI"):
                    said, took, requests = measure(name, engine, values)
                    is_other = engine == "CURL" and not said.startswith(expected)
                    n_other += is_other
                    print(f"{server.__name__:10} {scheme:6} {credentials:22} {engine:6} {took:6.2f} "
                          f"{requests:>8}  {said[:150]}{'  <-- not ' + expected if is_other else ''}",
                          flush=True)
    finally:
        servers.close()
        folder.close()
    sys.exit(1 if n_other else 0)


if __name__ == "__main__":
    main()
