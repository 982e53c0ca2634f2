"""gs:// URLs: Google's JSON interface as a server of our own speaks it, its tokens, and HMAC keys at moto."""

import base64
import json
import time
import urllib.parse

import boto3
import headrace as hr
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from number_shards import NUMBERS, ids, number_record, write_shard

PAGE_SIZE = 3


class Storage:
    """Objects of the bucket `b`; answers at `bad` as Google's JSON interface does."""

    def __init__(self, bad):
        self.objects = {}  # name: (bytes, generation)
        self.token = None  # the one that requests must have
        self.services = {}  # path: function of a request that gives a dict
        self.bad = bad
        bad.always = self.answer

    def answer(self, server, request):
        if request.path in self.services:
            return request.send(200, [], json.dumps(self.services[request.path](request)).encode())
        if self.token is not None and request.header("authorization") != f"Bearer {self.token}":
            return request.send(401, [], b'{"error": {"code": 401, "message": "Invalid Credentials"}}')
        query = dict(urllib.parse.parse_qsl(request.query))
        assert request.path.startswith("/storage/v1/b/b/o")
        name = urllib.parse.unquote(request.path.removeprefix("/storage/v1/b/b/o").removeprefix("/"))
        return self.media(request, name, query) if name else self.page(request, query)

    def page(self, request, query):
        names = sorted(name for name in self.objects if name.startswith(query.get("prefix", "")))
        if query.get("delimiter") == "/":
            names = [name for name in names if "/" not in name.removeprefix(query.get("prefix", ""))]
        first = int(query.get("pageToken", 0))
        items = [
            {"name": name, "size": str(len(self.objects[name][0])), "generation": str(self.objects[name][1])}
            for name in names[first : first + PAGE_SIZE]
        ]
        body = {"items": items} if items else {}
        if first + PAGE_SIZE < len(names):
            body["nextPageToken"] = str(first + PAGE_SIZE)
        request.send(200, [], json.dumps(body).encode())

    def media(self, request, name, query):
        assert query["alt"] == "media" and request.header("accept-encoding") == "gzip"
        if name not in self.objects:
            return request.send(404, [], b'{"error": {"code": 404, "message": "No such object: b/x"}}')
        data, generation = self.objects[name]
        if query.get("ifGenerationMatch") not in (None, str(generation)):
            return request.send(412, [], b"{}")
        first, last = request.range()
        last = min(last, len(data) - 1)
        headers = [("Content-Range", f"bytes {first}-{last}/{len(data)}"), ("x-goog-generation", str(generation))]
        request.send(206, headers, data[first : last + 1])


@pytest.fixture
def gs(bad, environment, tmp_path):
    """A Storage that STORAGE_EMULATOR_HOST names, with four objects of 25 records."""
    environment.setenv("STORAGE_EMULATOR_HOST", bad.url.removeprefix("http://"))
    storage = Storage(bad)
    for shard in range(4):
        path = write_shard(tmp_path / "shard", [number_record(25 * shard + i) for i in range(25)])
        storage.objects[f"train/a-{shard}.tfrecord"] = (open(path, "rb").read(), 100 + shard)
    return storage


def rows(files):
    with iter(hr.TFRecordDataset(files).batch(10).parse(NUMBERS)) as batches:
        return ids(batches)


def test_objects_patterns_and_folders(gs):
    assert rows("gs://b/train/a-1.tfrecord") == list(range(25, 50))
    assert rows("gs://b/train/a-[12].*") == list(range(25, 75))
    assert rows("gs://b/train") == rows("gs://b/train/") == list(range(100))
    assert all(request.header("authorization") is None for request in gs.bad.requests)


def test_names_of_all_kinds(gs):
    name = "ä b+c/%2F?#.tfrecord"
    gs.objects[name] = gs.objects["train/a-0.tfrecord"]
    assert rows(f"gs://b/{name}"[:-9] + "*") == rows([f"gs://b/{name}"]) == list(range(25))


def test_what_is_missing_or_replaced(gs):
    with pytest.raises(FileNotFoundError, match="404.*No such object"):
        rows("gs://b/train/none")
    records = iter(hr.TFRecordDataset("gs://b/train/*").repeat())
    next(records)
    gs.objects["train/a-2.tfrecord"] = (gs.objects["train/a-2.tfrecord"][0], 999)
    with pytest.raises(OSError, match="replaced"):
        for _ in range(10_000):
            next(records)


@pytest.fixture
def signed_in(gs, bad, environment):
    """The same storage, no emulator any more: it wants the token `good`."""
    environment.delenv("STORAGE_EMULATOR_HOST")
    environment.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", f"{bad.url}/")
    gs.token = "good"
    return gs


def read_all():
    assert rows("gs://b/train/*") == list(range(100))


def test_a_token_in_the_environment(signed_in, environment):
    with pytest.raises(PermissionError, match="no Google credentials.*GS_NO_SIGN_REQUEST=1"):
        read_all()
    environment.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "good")
    read_all()
    environment.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "old-secret")
    with pytest.raises(PermissionError, match="401 .Invalid Credentials.; the credentials are not enough") as caught:
        read_all()
    assert "old-secret" not in str(caught.value) + str(caught.value.__dict__)


def test_public_objects_without_a_token(signed_in, environment):
    signed_in.token = None
    environment.setenv("GS_NO_SIGN_REQUEST", "1")
    read_all()
    assert all(request.header("authorization") is None for request in signed_in.bad.requests)


def test_a_service_account(signed_in, environment, tmp_path):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    asked = []

    def token(request):
        form = dict(urllib.parse.parse_qsl(request.body.decode()))
        head, claims, signature = form["assertion"].split(".")
        key.public_key().verify(decode(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
        asked.append((form["grant_type"], json.loads(decode(head)), json.loads(decode(claims))))
        return {"access_token": "good", "expires_in": 3600}

    signed_in.services["/token"] = token
    account = {
        "type": "service_account",
        "client_email": "me@x",
        "private_key": pem,
        "private_key_id": "k1",
        "token_uri": f"{signed_in.bad.url}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    environment.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    read_all()
    [(grant, head, claims)] = asked
    assert grant == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert head == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    assert claims["iss"] == "me@x" and claims["aud"] == account["token_uri"] and claims["exp"] - claims["iat"] == 3600
    assert abs(claims["iat"] - time.time()) < 60


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_users_sign_on(signed_in, environment, tmp_path):
    forms = []

    def token(request):
        forms.append(dict(urllib.parse.parse_qsl(request.body.decode())))
        return {"access_token": "good", "expires_in": 3600}

    signed_in.services["/token"] = token
    user = {"type": "authorized_user", "client_id": "c", "client_secret": "s&", "refresh_token": "r/1"}
    user["token_uri"] = f"{signed_in.bad.url}/token"
    folder = tmp_path / "home/.config/gcloud"
    folder.mkdir(parents=True)
    (folder / "application_default_credentials.json").write_text(json.dumps(user))
    read_all()
    assert forms == [{"grant_type": "refresh_token", "client_id": "c", "client_secret": "s&", "refresh_token": "r/1"}]


def test_the_metadata_server_and_renewal(signed_in, environment):
    environment.delenv("NO_GCE_CHECK")
    environment.setenv("GCE_METADATA_HOST", signed_in.bad.url.removeprefix("http://"))
    given = []

    def token(request):
        assert request.header("metadata-flavor") == "Google"
        given.append(1)
        return {"access_token": "good", "expires_in": 200}  # less than the five minutes ahead

    signed_in.services["/computeMetadata/v1/instance/service-accounts/default/token"] = token
    read_all()
    assert len(given) > 1


def test_credentials_that_cannot_be_used(signed_in, environment, tmp_path):
    path = tmp_path / "account.json"
    environment.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    for text, what in [
        ('{"type": "service_account", "private_key": "secret"}', "the private key of the service account cannot be used"),
        ('{"type": "external_account"}', "neither service_account nor authorized_user"),
        ("not json: secret", "neither service_account nor authorized_user"),
    ]:
        path.write_text(text)
        with pytest.raises(hr.Error, match=what) as caught:
            read_all()
        assert "secret" not in str(caught.value)
    environment.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        read_all()


def test_an_hmac_key_speaks_like_s3(moto_url, environment, tmp_path):
    environment.setenv("STORAGE_EMULATOR_HOST", moto_url)
    environment.setenv("GS_ACCESS_KEY_ID", "GOOG1E")
    environment.setenv("GS_SECRET_ACCESS_KEY", "sesame")
    client = boto3.client(
        "s3", endpoint_url=moto_url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y"
    )
    client.create_bucket(Bucket="hmac")
    path = write_shard(tmp_path / "shard", [number_record(i) for i in range(25)])
    client.upload_file(path, "hmac", "train/a.tfrecord")
    assert rows("gs://hmac/train/*.tfrecord") == rows("gs://hmac/train") == list(range(25))
    environment.delenv("GS_SECRET_ACCESS_KEY")
    with pytest.raises(ValueError, match="must be set both"):
        rows("gs://hmac/train")
