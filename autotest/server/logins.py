"""What logins of data providers do, for all that read: servers that play each part, Earthdata's by token and by
password, keys of S3 and tokens that expire, wrong ones included. What lets in is seen by nobody else.

A test derives from these and says how it reads.
"""

import json
import os
import shutil
import subprocess
import time
import unittest

from served import CERTIFICATE, Folder, Server

BANDS, WIDTH = 12, 50
VALUES = list(range(BANDS * WIDTH))
BASIC = "Basic dXNlcjpwYXNz"  # user:pass


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.folder.write_array(BANDS, WIDTH, chunk_gap=100000)

    def serve(self, **arguments):
        server = Server(self.folder, **arguments)
        self.addCleanup(server.close)
        return server

    def read(self, url, **env):
        """Reads all of the array v of a set, with no other login than these; what is said where that fails."""
        raise NotImplementedError

    def run_alone(self, command, **env):
        """A process that sees no other login than these."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "EARTHDATA_", "AZURE_"))}
        return subprocess.run(command, check=False, capture_output=True, text=True,
                              env={**clean, "HOME": self.folder.path, "GDAL_HTTP_MAX_RETRY": "0",
                                   "CURL_CA_BUNDLE": CERTIFICATE, **env})


class Earthdata(Case):
    """Data on one host, the login on another, as NASA has it: both names are this machine's."""

    def setUp(self):
        super().setUp()
        self.login = {"status": 401, "require": {"Authorization": f"^{BASIC}$|^Bearer good$"}}
        self.faults = {}
        self.protect("/refs.json", "/v.bin")

    def protect(self, *paths):
        """Has these ask for the login."""
        ask = {"status": 302, "require": {"Cookie": "token=1"},
               "headers": {"Location": "https://localhost:{port}/@login{path}"}}
        admit = {"status": 302, "headers": {"Location": "https://127.0.0.1:{port}/@back{path}"}}
        welcome = {"status": 302, "headers": {"Location": "https://127.0.0.1:{port}{path}",
                                              "Set-Cookie": "token=1; Path=/; Max-Age=1000"}}
        for path in paths:
            self.faults.update({path: dict(ask), f"/@login{path}": [dict(self.login), dict(admit)],
                                f"/@back{path}": dict(welcome)})

    def open(self, server, **env):
        return self.read(server.url("refs.json"), EARTHDATA_LOGIN_HOST=f"localhost:{server.port}", **env)

    def sent(self, server, place):
        """The values of Authorization that one of the two hosts was sent."""
        return {r["headers"].get("authorization") for r in server.requests()
                if r["headers"]["host"].startswith(place)}

    def test_by_password_is_one_and_only_the_login_sees_it(self):
        server = self.serve(faults=self.faults, tls=True)
        self.assertEqual(self.open(server, EARTHDATA_USERNAME="user", EARTHDATA_PASSWORD="pass"), "")
        self.assertEqual(self.sent(server, "localhost"), {BASIC})
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})
        self.assertEqual(len([r for r in server.requests() if r["path"].startswith("/@login")]), 1)

    def test_by_password_is_one_though_others_hear_late_that_it_is_wanted(self):
        ask = self.faults["/v.bin"]
        self.faults = {**self.faults, "/v.bin": [{**ask, "times": 1}, {**ask, "stall_s": 1}]}
        self.faults.pop("/refs.json")
        server = self.serve(faults=self.faults, tls=True)
        self.assertEqual(self.open(server, EARTHDATA_USERNAME="user", EARTHDATA_PASSWORD="pass"), "")
        self.assertEqual(self.logins(server), 1)

    def test_by_a_wrong_password_ends_with_what_to_try(self):
        server = self.serve(faults=self.faults, tls=True)
        said = self.open(server, EARTHDATA_USERNAME="user", EARTHDATA_PASSWORD="wrong")
        self.assertIn("HTTP 401", said)
        self.assertIn("EARTHDATA_USERNAME or EARTHDATA_PASSWORD may be wrong", said)
        self.assertNotIn("wrong:", said)

    def logins(self, server):
        return len([r for r in server.requests() if "authorization" in r["headers"]])

    def test_by_a_wrong_password_is_tried_once(self):
        self.protect(*(f"/refs.json/{name}" for name in (".zmetadata", "repo", "refs/branch.main/ref.json")))
        server = self.serve(faults=self.faults, tls=True)
        said = self.open(server, EARTHDATA_USERNAME="user", EARTHDATA_PASSWORD="wrong")
        self.assertIn("HTTP 401 (EARTHDATA_USERNAME or EARTHDATA_PASSWORD may be wrong)", said)
        self.assertEqual(self.logins(server), 1)
        self.write_netrc("wrong")
        server = self.serve(faults=self.faults, tls=True, name="netrc")
        self.assertIn(".netrc has a wrong password", self.open(server))
        self.assertEqual(self.logins(server), 1)

    def test_by_a_wrong_token_is_tried_once(self):
        refuse = {"status": 401, "require": {"Authorization": "^Bearer good$"}}
        names = ("", "/.zmetadata", "/repo", "/refs/branch.main/ref.json")
        server = self.serve(tls=True, faults={f"/refs.json{name}": refuse for name in names})
        said = self.open(server, EARTHDATA_TOKEN="old", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}")
        self.assertIn("EARTHDATA_TOKEN may have expired", said)
        self.assertEqual(self.logins(server), 1)

    def test_by_a_token_of_a_file_is_one_line(self):
        server = self.serve(tls=True, faults={
            path: {"status": 401, "require": {"Authorization": "^Bearer good$"}} for path in ("/refs.json", "/v.bin")})
        hosts = {"EARTHDATA_HOSTS": f"127.0.0.1:{server.port}"}
        for token in "good\n", '"good"', "Bearer good\r\n":
            self.assertEqual(self.open(server, EARTHDATA_TOKEN=token, **hosts), "")
        self.assertEqual(self.sent(server, "127.0.0.1"), {"Bearer good"})

    def test_by_a_token_of_two_lines_sends_nothing(self):
        server = self.serve(tls=True)
        self.assertIn("EARTHDATA_TOKEN has a control character (0x0d)", self.open(
            server, EARTHDATA_TOKEN="good\r\nX-Other: 1", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}"))
        self.assertEqual(server.requests(), [])

    def test_by_token_takes_no_login(self):
        server = self.serve(tls=True, faults={
            path: {"status": 401, "require": {"Authorization": "^Bearer good$"}} for path in ("/refs.json", "/v.bin")})
        self.assertEqual(self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}"), "")
        self.assertEqual(self.sent(server, "127.0.0.1"), {"Bearer good"})

    def test_by_a_token_that_expired_ends_with_what_to_try(self):
        server = self.serve(tls=True, faults={"/refs.json": {"status": 401, "require": {"Authorization": "^Bearer good$"}}})
        said = self.open(server, EARTHDATA_TOKEN="old-and-secret", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}")
        self.assertIn("EARTHDATA_TOKEN may have expired", said)
        self.assertNotIn("old-and-secret", said)

    def test_by_token_where_the_data_redirect_to_the_login(self):
        server = self.serve(faults=self.faults, tls=True)
        self.assertEqual(self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=f"localhost:{server.port}"), "")
        self.assertEqual(self.sent(server, "localhost"), {"Bearer good"})
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})

    def test_sends_nothing_to_other_hosts(self):
        server = self.serve(tls=True)
        for env in ({"EARTHDATA_TOKEN": "good"}, {"EARTHDATA_USERNAME": "user", "EARTHDATA_PASSWORD": "pass"},
                    {"EARTHDATA_TOKEN": "good", "EARTHDATA_HOSTS": f"27.0.0.1:{server.port}"},
                    {"EARTHDATA_TOKEN": "good", "EARTHDATA_HOSTS": "127.0.0.1"}):
            with self.subTest(env):
                self.assertEqual(self.open(server, **env), "")
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})

    def test_says_that_it_sends_nothing_to_other_hosts(self):
        server = self.serve(tls=True, faults={"/refs.json": {"status": 401}})
        self.assertIn("EARTHDATA_TOKEN was not sent to this host: add the host to EARTHDATA_HOSTS",
                      self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS="a.org"))

    def test_sends_nothing_elsewhere_though_redirects_are_trusted(self):
        fault = {"status": 302, "headers": {"Location": "https://localhost:{port}/@to{path}"}}
        server = self.serve(faults={"/v.bin": fault}, tls=True)
        said = self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}",
                         CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT="YES")
        self.assertEqual(said, "")
        self.assertEqual(self.sent(server, "localhost"), {None})

    def test_sends_nothing_in_the_clear(self):
        server = self.serve()
        self.assertEqual(self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}"), "")
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})

    def test_says_that_it_sends_nothing_in_the_clear(self):
        server = self.serve(faults={"/refs.json": {"status": 401}})
        hosts = f"127.0.0.1:{server.port}"
        self.assertIn("EARTHDATA_TOKEN was not sent: it requires https",
                      self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=hosts))
        self.assertIn("EARTHDATA_PASSWORD was not sent: it requires https",
                      self.open(server, EARTHDATA_USERNAME="user", EARTHDATA_PASSWORD="pass"))

    def test_yields_to_options_of_gdal(self):
        server = self.serve(tls=True)
        self.assertEqual(self.open(server, EARTHDATA_TOKEN="good", EARTHDATA_HOSTS=f"127.0.0.1:{server.port}",
                                   GDAL_HTTP_USERPWD="user:pass"), "")
        self.assertEqual(self.sent(server, "127.0.0.1"), {BASIC})

    pages = ("/refs.json", "/v.bin")

    def test_that_is_a_page_is_told_as_one(self):
        page = {"status": 200, "headers": {"Content-Type": "text/html; charset=utf-8"},
                "body": "<!DOCTYPE html>" + "log in " * 1000}
        for name in self.pages:
            with self.subTest(name):
                server = self.serve(faults={"/refs.json/.zmetadata": page, name: page}, name=name[1:])
                self.assertIn("the server returned a web page", self.open(server))

    def write_netrc(self, password="pass"):
        with open(self.folder.file(".netrc"), "w", encoding="utf-8") as file:
            file.write(f"machine localhost login user password {password}\n")

    def test_by_netrc_is_not_sent_in_the_clear(self):
        self.write_netrc()
        server = self.serve(name="clear")
        said = self.read(f"http://localhost:{server.port}/refs.json", EARTHDATA_LOGIN_HOST="localhost")
        self.assertEqual((said, self.sent(server, "localhost")), ("", {None}))
        fault = {"status": 302, "headers": {"Location": "http://localhost:{port}/@to{path}"}}
        server = self.serve(faults={"/refs.json": fault, "/v.bin": dict(fault)}, name="redirect")
        for trust in "NO", "YES":
            said = self.read(server.url("refs.json"), CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT=trust)
            self.assertEqual((said, self.sent(server, "localhost")), ("", {None}))

    def test_by_netrc_says_that_it_sends_nothing_in_the_clear(self):
        self.write_netrc()
        server = self.serve(faults={"/refs.json": {"status": 401}})
        self.assertIn("it requires https",
                      self.read(f"http://localhost:{server.port}/refs.json", EARTHDATA_LOGIN_HOST="localhost"))

    def test_by_netrc(self):
        self.write_netrc()
        server = self.serve(faults=self.faults, tls=True)
        self.assertEqual(self.open(server), "")
        self.assertEqual(self.sent(server, "localhost"), {BASIC})
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})


class Grants(Case):
    """Access that a service gives out for a while."""

    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.folder.served, "bucket"))
        for name in ("refs.json", "v.bin"):
            shutil.copy(os.path.join(self.folder.served, name), os.path.join(self.folder.served, "bucket", name))

    def write_keys(self, seconds, **more):
        when = time.strftime("%Y-%m-%d %H:%M:%S+00:00", time.gmtime(time.time() + seconds))
        self.folder.write("keys", json.dumps({"accessKeyId": "ASIA", "secretAccessKey": "s3cret", "sessionToken": "session",
                                              "expiration": when, **more}))

    def aws(self, server):
        return {"AWS_S3_ENDPOINT": f"127.0.0.1:{server.port}", "AWS_HTTPS": "NO", "AWS_VIRTUAL_HOSTING": "FALSE",
                "AWS_REGION": "us-west-2", "REFS_TOKEN_URL": f"/vsis3/bucket/=>{server.url('keys')}"}

    def asked(self, server, path):
        return [r for r in server.requests() if r["path"].split("?")[0] == path]

    def test_of_keys_sign_requests_and_are_asked_for_once(self):
        server = self.serve()
        self.write_keys(3600)
        self.assertEqual(self.read("s3://bucket/refs.json", **self.aws(server)), "")
        self.assertEqual(len(self.asked(server, "/keys")), 1)
        data = self.asked(server, "/bucket/v.bin")
        self.assertGreater(len(data), 0)
        for request in data:
            self.assertRegex(request["path"], "X-Amz-Credential=ASIA.*X-Amz-Security-Token=session")

    def test_of_keys_are_used_whatever_the_profile_of_the_user_is(self):
        server = self.serve()
        self.write_keys(3600)
        config = self.folder.file("config")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[default]\nsso_session = mine\n[profile role]\nrole_arn = arn\n")
        for profile in ("default", "role", "none"):
            with self.subTest(profile):
                env = {**self.aws(server), "AWS_CONFIG_FILE": config, "AWS_PROFILE": profile}
                self.assertEqual(self.read("s3://bucket/refs.json", **env), "")

    def test_of_keys_ask_at_the_expense_of_who_asks(self):
        server = self.serve()
        self.write_keys(3600)
        env = {**self.aws(server), "AWS_REQUEST_PAYER": "requester", "AWS_ACCESS_KEY_ID": "OTHER", "AWS_SECRET_ACCESS_KEY": "other"}
        self.assertEqual(self.read("s3://bucket/refs.json", **env), "")
        data = self.asked(server, "/bucket/v.bin")
        self.assertGreater(len(data), 0)
        for request in data:
            self.assertIn("X-Amz-Credential=ASIA", request["path"])
            self.assertIn("X-Amz-Security-Token=session", request["path"])
            self.assertIn("x-amz-request-payer=requester", request["path"])

    def test_of_keys_are_renewed_before_they_expire(self):
        server = self.serve()
        self.write_keys(1)  # nearly over when they come
        self.assertEqual(self.read("s3://bucket/refs.json", **self.aws(server)), "")
        n = len(self.asked(server, "/keys"))
        self.write_keys(-10)
        self.assertEqual(self.read("s3://bucket/refs.json", **self.aws(server)), "")
        self.assertGreaterEqual(len(self.asked(server, "/keys")) - n, 2)

    def test_of_keys_that_are_refused_are_asked_for_once_more(self):
        server = self.serve(faults={"/bucket/v.bin": {"status": 403, "times": 1}})
        self.write_keys(3600)
        self.assertEqual(self.read("s3://bucket/refs.json", **self.aws(server)), "")
        self.assertEqual(len(self.asked(server, "/keys")), 2)

    def test_of_keys_that_are_wrong_are_an_error(self):
        server = self.serve(faults={"/bucket/refs.json": {"status": 403}})
        self.write_keys(3600)
        said = self.read("s3://bucket/refs.json", **self.aws(server))
        self.assertIn("HTTP 403", said)
        self.assertNotIn("s3cret", said)
        self.assertLessEqual(len(self.asked(server, "/keys")), 3)

    def test_of_keys_for_other_buckets_are_not_asked_for(self):
        server = self.serve()
        self.write_keys(3600)
        env = {**self.aws(server), "REFS_TOKEN_URL": f"/vsis3/other/=>{server.url('keys')}", "AWS_NO_SIGN_REQUEST": "YES"}
        self.assertEqual(self.read("s3://bucket/refs.json", **env), "")
        self.assertEqual(self.asked(server, "/keys"), [])

    def test_of_tokens_go_into_urls_of_their_prefix_alone(self):
        server, other = self.serve(), self.serve(name="other")
        self.folder.write("token", json.dumps({"token": "sv=1&se=2&sig=s3cret", "msft:expiry": "2999-01-01T00:00:00Z"}))
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('token')}"}
        self.assertEqual(self.read(server.url("bucket/refs.json"), **env), "")
        self.assertEqual(self.read(other.url("refs.json"), **env), "")
        self.assertEqual(len(self.asked(server, "/token")), 1)
        for request in self.asked(server, "/bucket/v.bin"):
            self.assertIn("?sv=1&se=2&sig=s3cret", request["path"])
        self.assertNotIn("s3cret", str(other.requests()))

    def test_of_tokens_that_expired_are_asked_for_once_more(self):
        server = self.serve(faults={"/bucket/v.bin": {"status": 403, "times": 1}})
        self.folder.write("token", "?sv=1&sig=a")
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('token')}"}
        self.assertEqual(self.read(server.url("bucket/refs.json"), **env), "")
        self.assertEqual(len(self.asked(server, "/token")), 2)

    def test_of_tokens_that_are_always_refused_are_asked_for_once_more(self):
        server = self.serve(faults={"/bucket/v.bin": {"status": 403}})
        self.folder.write("token", "sv=1&sig=s3cret")
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('token')}", "REFS_MAX_GAP": "0"}
        self.assertIn("HTTP 403", self.read(server.url("bucket/refs.json"), **env))
        self.assertEqual(len(self.asked(server, "/token")), 2)

    def test_of_tokens_replace_those_that_expired_in_the_set(self):
        self.folder.write_array(BANDS, WIDTH, url="v.bin?sv=0&se=1&sp=r&sig=old", name="bucket/refs.json", chunk_gap=100000)
        server = self.serve()
        self.folder.write("token", "sv=1&sig=s3cret")
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('token')}"}
        self.assertEqual(self.read(server.url("bucket/refs.json"), **env), "")
        self.assertEqual({r["path"] for r in self.asked(server, "/bucket/v.bin")}, {"/bucket/v.bin?sv=1&sig=s3cret"})

    def test_of_tokens_are_of_whole_folders(self):
        server = self.serve()
        shutil.copytree(self.folder.file("served/bucket"), self.folder.file("served/bucket2"))
        self.folder.write("token", "?sv=1&sig=s3cret")
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket=>{server.url('token')}"}
        self.assertEqual(self.read(server.url("bucket2/refs.json"), **env), "")
        self.assertEqual(self.read(server.url("bucket/refs.json"), **env), "")
        for request in server.requests():
            self.assertEqual("s3cret" in request["path"], request["path"].startswith("/bucket/"))

    def test_for_buckets_are_named_as_buckets_are(self):
        server = self.serve()
        self.write_keys(3600)
        env = {**self.aws(server), "REFS_TOKEN_URL": f" s3://bucket => {server.url('keys')} "}
        self.assertEqual(self.read("s3://bucket/refs.json", **env), "")
        self.assertEqual(len(self.asked(server, "/keys")), 1)

    def test_that_can_hold_nowhere_are_errors(self):
        server = self.serve()
        for item in ("nonsense", f"{server.base}/bucket/=>", f"bucket=>{server.url('token')}"):
            self.assertIn(f'REFS_TOKEN_URL: expected PREFIX=>URL,..., found "{item}"',
                          self.read(server.url("bucket/refs.json"), REFS_TOKEN_URL=item))

    def test_without_a_prefix_hold_nowhere(self):
        server = self.serve()
        self.folder.write("token", "sv=1&sig=a")
        self.assertEqual(self.read(server.url("bucket/refs.json"), REFS_TOKEN_URL=server.url("token")), "")
        self.assertEqual(self.asked(server, "/token"), [])

    def test_that_are_none_are_an_error_that_names_the_option(self):
        server = self.serve()
        self.folder.write("token", "<html>please log in</html>")
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('token')}"}
        said = self.read(server.url("bucket/refs.json"), **env)
        self.assertIn("REFS_TOKEN_URL: expected keys", said)
        env = {"REFS_TOKEN_URL": f"{server.base}/bucket/=>{server.url('gone')}"}
        said = self.read(server.url("bucket/refs.json"), **env)
        self.assertIn("REFS_TOKEN_URL: ", said)
        self.assertIn("HTTP 404", said)

    def test_by_a_login_take_that_login(self):
        server = self.serve(tls=True, faults={"/keys": {"status": 401, "require": {"Authorization": "^Bearer good$"}}})
        plain = self.serve(name="store")
        self.write_keys(3600)
        env = {**self.aws(plain), "REFS_TOKEN_URL": f"/vsis3/bucket/=>{server.url('keys')}",
               "EARTHDATA_TOKEN": "good", "EARTHDATA_HOSTS": f"127.0.0.1:{server.port}"}
        self.assertEqual(self.read("s3://bucket/refs.json", **env), "")
        self.assertNotIn("Bearer", str(plain.requests()))
