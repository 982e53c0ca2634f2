"""s3:// URLs: objects, patterns and folders of moto's server; signatures, credentials and regions at a server of our own."""

import datetime
import json
import os
import time
import urllib.parse
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import headrace as hr
import pytest
import remote_servers as servers
from number_shards import NUMBERS, ids, number_record, write_shard

PAGE = """<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>{more}</IsTruncated>{next}{contents}
</ListBucketResult>"""


@pytest.fixture
def client(moto_url, environment):
    """A client of moto, with an empty bucket `data`."""
    for name, value in {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "sesame", "AWS_REGION": "eu-west-1"}.items():
        environment.setenv(name, value)
    environment.setenv("AWS_ENDPOINT_URL", moto_url)
    client = boto3.client("s3", endpoint_url=moto_url, region_name="eu-west-1")
    urllib.request.urlopen(f"{moto_url}/moto-api/reset", data=b"").close()
    client.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    return client


@pytest.fixture
def put(client, shards):
    """put(key, shard=0): a shard of 25 records under `key`."""

    def put(key, shard=0):
        client.put_object(Bucket="data", Key=key, Body=(shards / f"part-{shard:02d}.tfrecord").read_bytes())

    return put


def rows(files, **options):
    with iter(hr.TFRecordDataset(files, **options).batch(10).parse(NUMBERS)) as batches:
        return ids(batches)


def test_an_object(put):
    put("train/a.tfrecord")
    assert rows("s3://data/train/a.tfrecord") == list(range(25))
    assert len(list(hr.open_records("s3://data/train/a.tfrecord"))) == 25


@pytest.mark.parametrize("key", ["a b+c.tfrecord", "ä/ö%2F.tfrecord", "q?x=1&y#z.tfrecord", "a//b/../c.tfrecord", "star*[1].tfrecord"])
def test_keys_of_all_kinds(put, key):
    put(key)
    assert rows([f"s3://data/{key}"]) == list(range(25))
    assert rows("s3://data/" + key.replace("*", "[*]").split("[1]")[0] + ("*" if "[1]" in key else "")) == list(range(25))


def test_patterns_match_as_they_do_for_files(put):
    for shard, key in enumerate(["train/b-2.tfrecord", "train/b-1.tfrecord", "train/b-x/c.tfrecord"]):
        put(key, shard)
    put("train/.hidden.tfrecord", 3)
    put("other/b-3.tfrecord", 3)
    assert rows("s3://data/train/b-*.tfrecord") == [*range(25, 50), *range(25)]
    assert rows("s3://data/*/b-[23].tfrecord") == [*range(75, 100), *range(25)]
    assert rows("s3://data/train/b-?/*.tfrecord") == list(range(50, 75))
    assert len(rows("s3://data/train/*")) == 50
    with pytest.raises(FileNotFoundError, match="No files matched pattern"):
        rows("s3://data/none-*")


def test_a_folder_is_its_record_files(put, client):
    put("train/a.tfrecord")
    put("train/b", 1)
    put("train/deep/c.tfrecord", 2)
    client.put_object(Bucket="data", Key="train/_SUCCESS", Body=b"")
    client.put_object(Bucket="data", Key="train/notes.txt", Body=b"nothing to read here")
    client.put_object(Bucket="data", Key="train/", Body=b"")
    for url in ("s3://data/train", "s3://data/train/"):
        dataset = hr.TFRecordDataset(url)
        assert rows(url) == list(range(50))
        assert dataset.check() == ["left out of the folder: notes.txt"]


def test_whole_files_of_a_folder(client):
    for key, body in {"train/b.png": b"two", "train/a.txt": b"one", "train/empty": b"", "train/_SUCCESS": b"x", "train/c/d": b"y"}.items():
        client.put_object(Bucket="data", Key=key, Body=body)
    files = hr.FileDataset("s3://data/train/")
    assert (len(files), list(files), files.check()) == (3, [b"one", b"two", b""], [])


def test_a_folder_that_lacks_a_shard(put):
    put("train/x-00000-of-00002")
    with pytest.raises(FileNotFoundError, match="x-00001-of-00002"):
        rows("s3://data/train")


def test_all_missing_objects_are_named(put):
    put("a")
    with pytest.raises(FileNotFoundError, match=r"2 of 3 files.*NoSuchKey.*s3://data/b, s3://data/c"):
        rows(["s3://data/a", "s3://data/b", "s3://data/c"])
    with pytest.raises(FileNotFoundError, match="NoSuchBucket"):
        rows("s3://nobody-has-this/a")
    with pytest.raises(ValueError, match="names no bucket"):
        rows("s3:///a")


def test_a_replaced_object(put, client):
    for i in range(2):
        put(f"r/{i}.tfrecord", i)
    records = iter(hr.TFRecordDataset("s3://data/r/*").repeat())
    for _ in range(10):
        next(records)
    put("r/0.tfrecord", 3)
    with pytest.raises(OSError, match="replaced") as caught:
        for _ in range(10_000):
            next(records)
    assert caught.value.path == "s3://data/r/0.tfrecord"


def test_a_position_fits_local_files(put, shards):
    for i in range(4):
        put(f"p/part-{i:02d}.tfrecord", i)

    def dataset(files):
        return hr.TFRecordDataset(files).interleave(4).shuffle(20, seed=1).batch(8).parse(NUMBERS)

    with iter(dataset("s3://data/p/*")) as batches:
        for _ in range(3):
            next(batches)
        state = batches.state_dict()
        expected = ids(batches)
    with iter(dataset(str(shards / "*"))) as batches:
        batches.load_state_dict(state)
        assert ids(batches) == expected


# A server of our own looks at what is sent.


@pytest.fixture
def s3(bad, environment, tmp_path):
    """A server that misbehaves as an endpoint of S3, with the object s3://b/k of 25 records."""
    environment.setenv("AWS_ENDPOINT_URL_S3", bad.url)
    environment.setenv("AWS_REGION", "eu-west-1")
    records = [number_record(i) for i in range(25)]
    bad.files["/b/k"] = open(write_shard(tmp_path / "k", records), "rb").read()
    return bad


def read_object():
    return len(list(hr.open_records("s3://b/k")))


def credential_of(request):
    return request.header("authorization").split("Credential=")[1].split(",")[0]


def check_signature(request, url, key, secret, token=None):
    """Signs the same request with botocore and compares."""
    kept = {name: request.header(name) for name in ("x-amz-content-sha256", "x-amz-date")}
    again = botocore.awsrequest.AWSRequest(method=request.method, url=url + request.target, data=request.body)
    signer = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(key, secret, token), "s3", "eu-west-1")
    when = datetime.datetime.strptime(kept["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    again.context.update(timestamp=kept["x-amz-date"], payload_signing_enabled=False)
    signer._modify_request_before_signing(again)
    for name, value in kept.items():
        del again.headers[name]
        again.headers[name] = value
    canonical = signer.canonical_request(again)
    expected = signer.signature(signer.string_to_sign(again, canonical), again)
    assert request.header("authorization").endswith(f"Signature={expected}"), canonical
    assert abs(when.timestamp() - time.time()) < 60


def test_signatures_are_those_of_botocore(s3, environment):
    environment.setenv("AWS_ACCESS_KEY_ID", "AKID")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
    for token in (None, "of/a=session+"):
        if token:
            environment.setenv("AWS_SESSION_TOKEN", token)
        s3.requests.clear()
        s3.files["/b/a%20b%2B%C3%A4%3F/x~y"] = s3.files["/b/k"]
        assert len(list(hr.open_records("s3://b/a b+ä?/x~y"))) == 25
        s3.always = lambda server, request: request.send(200, [], PAGE.format(more="false", next="", contents="").encode())
        with pytest.raises(FileNotFoundError):
            hr.TFRecordDataset("s3://b/p q/*[+&=]").check()
        s3.always = None
        assert any("list-type=2" in request.target for request in s3.requests) and len(s3.requests) == 3
        for request in s3.requests:
            assert request.header("x-amz-security-token") == token
            check_signature(request, s3.url, "AKID", "sesame", token)


def test_lists_of_more_than_one_page(s3, environment):
    environment.setenv("AWS_NO_SIGN_REQUEST", "1")
    keys = [f"many/{i:05d}.tfrecord" for i in range(25)]

    def page(server, request):
        query = dict(urllib.parse.parse_qsl(request.query))
        assert query["prefix"] == "many/" and query["delimiter"] == "/"
        first = int(query.get("continuation-token", "at 0").removeprefix("at "))
        contents = "".join(f"<Contents><Key>{key}</Key><Size>0</Size></Contents>" for key in keys[first : first + 10])
        more = first + 10 < len(keys)
        following = f"<NextContinuationToken>at {first + 10}</NextContinuationToken>" if more else ""
        request.send(200, [], PAGE.format(more=str(more).lower(), next=following, contents=contents).encode())

    s3.always = page
    s3.faults = []
    found = hr._core.find_files([b"s3://b/many/*.tfrecord"], False)
    assert found == [(f"s3://b/{key}", 0, f"s3://b/{key}") for key in keys]
    assert len(s3.requests) == 3


def test_without_credentials(s3, environment):
    with pytest.raises(PermissionError, match="no AWS credentials.*AWS_NO_SIGN_REQUEST=1"):
        read_object()
    assert not s3.requests
    environment.setenv("AWS_NO_SIGN_REQUEST", "true")
    assert read_object() == 25
    assert all(request.header("authorization") is None for request in s3.requests)


def test_the_profile_files(s3, environment, tmp_path):
    (tmp_path / "home/.aws").mkdir()
    (tmp_path / "home/.aws/credentials").write_text("[default]\naws_access_key_id=D\naws_secret_access_key=x\n")
    assert read_object() == 25
    assert credential_of(s3.requests[-1]).startswith("D/")
    (tmp_path / "keys").write_text("[other]\naws_access_key_id = O\naws_secret_access_key = y\naws_session_token = t\n")
    (tmp_path / "config").write_text("[profile other]\nregion = ap-south-1\n")
    environment.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    environment.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    environment.setenv("AWS_PROFILE", "other")
    environment.delenv("AWS_REGION")
    assert read_object() == 25
    assert credential_of(s3.requests[-1]).startswith("O/") and "/ap-south-1/s3/" in credential_of(s3.requests[-1])
    assert s3.requests[-1].header("x-amz-security-token") == "t"
    environment.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PermissionError, match="no AWS profile 'nobody'"):
        read_object()


def answers(s3, keys):
    """Lets `s3` be a credentials service, too: {path: (method, function of a request that gives text)}."""

    def always(server, request):
        if request.path in keys:
            method, answer = keys[request.path]
            assert request.method == method
            return request.send(200, [], answer(request).encode())
        return server.serve(request)

    s3.always = always


def keys_json(name, seconds):
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return json.dumps(
        {"AccessKeyId": name, "SecretAccessKey": "s", "Token": "t", "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}
    )


def test_a_containers_role(s3, environment):
    answers(s3, {"/creds": ("GET", lambda request: keys_json("C" if request.header("authorization") == "tok" else "?", 3600))})
    environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{s3.url}/creds")
    environment.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok")
    assert read_object() == 25
    assert credential_of(s3.requests[-1]).startswith("C/")
    environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/creds")
    with pytest.raises(PermissionError, match="neither https nor on this machine"):
        read_object()


def test_an_instances_role(s3, environment):
    environment.delenv("AWS_EC2_METADATA_DISABLED")
    environment.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s3.url)
    base = "/latest/meta-data/iam/security-credentials/"

    def with_token(text):
        return lambda request: text if request.header("x-aws-ec2-metadata-token") == "v2" else "{}"

    answers(
        s3,
        {
            "/latest/api/token": ("PUT", lambda request: "v2" if request.header("x-aws-ec2-metadata-token-ttl-seconds") else ""),
            base: ("GET", with_token("my-role")),
            base + "my-role": ("GET", with_token(keys_json("I", 3600))),
        },
    )
    assert read_object() == 25
    assert credential_of(s3.requests[-1]).startswith("I/")


def sts(name, seconds):
    expires = json.loads(keys_json(name, seconds))["Expiration"]
    return f"""<R xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><X><Credentials><AccessKeyId>{name}</AccessKeyId>
<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>{expires}</Expiration></Credentials></X></R>"""


def test_a_web_identity(s3, environment, tmp_path):
    (tmp_path / "token").write_text("web token\n")
    forms = []

    def answer(request):
        forms.append(dict(urllib.parse.parse_qsl(request.body.decode())))
        return sts("W", 3600)

    answers(s3, {"/": ("POST", answer)})
    environment.setenv("AWS_ENDPOINT_URL_STS", s3.url + "/")
    environment.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    environment.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")
    assert read_object() == 25
    assert credential_of(s3.requests[-1]).startswith("W/")
    assert forms[0]["WebIdentityToken"] == "web token" and forms[0]["RoleArn"] == "arn:aws:iam::1:role/r"


def test_a_role_of_a_profile(s3, environment, tmp_path):
    (tmp_path / "config").write_text(
        "[profile base]\naws_access_key_id=B\naws_secret_access_key=y\n"
        "[profile role]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=base\n"
    )
    environment.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    environment.setenv("AWS_PROFILE", "role")
    environment.setenv("AWS_ENDPOINT_URL_STS", s3.url + "/")
    answers(s3, {"/": ("POST", lambda request: sts("R", 3600))})
    assert read_object() == 25
    assert credential_of(s3.requests[0]).startswith("B/") and "/sts/" in credential_of(s3.requests[0])
    assert credential_of(s3.requests[-1]).startswith("R/")


def test_keys_are_renewed_before_they_expire(s3, environment):
    given = []

    def answer(request):
        given.append(f"K{len(given)}")
        return keys_json(given[-1], 200)  # less than the five minutes ahead

    answers(s3, {"/creds": ("GET", answer)})
    environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{s3.url}/creds")
    assert read_object() == 25
    assert len(given) >= 2
    used = [credential_of(request).split("/")[0] for request in s3.requests if request.path == "/b/k"]
    assert used[-1] == given[-1] and used[0] == "K0"


def test_the_region_is_learned_from_the_redirect(s3, environment):
    environment.setenv("AWS_ACCESS_KEY_ID", "A")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "s")
    environment.delenv("AWS_REGION")

    def always(server, request):
        if "/ap-south-1/" in credential_of(request):
            return server.serve(request)
        return request.send(301, [("x-amz-bucket-region", "ap-south-1")], b"<Error><Code>PermanentRedirect</Code></Error>")

    s3.always = always
    assert read_object() == 25
    assert [("us-east-1" in credential_of(request)) for request in s3.requests] == [True, False, False]


def test_secrets_are_never_shown(s3, environment):
    environment.setenv("AWS_ACCESS_KEY_ID", "AKIDSECRET")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
    environment.setenv("AWS_SESSION_TOKEN", "tokensesame")
    dataset = hr.TFRecordDataset("s3://b/k").batch(5).parse(NUMBERS)
    with iter(dataset) as batches:
        assert ids(batches) == list(range(25))
        shown = json.dumps(batches.state_dict()) + batches.report().to_json() + repr(dataset)
    refusal = b"<Error><Code>AccessDenied</Code><Message>No.</Message><AWSAccessKeyId>AKIDSECRET</AWSAccessKeyId></Error>"
    s3.always = servers.status(403, body=refusal)
    with pytest.raises(PermissionError, match=r"\(AccessDenied: No\.\); the credentials are not enough for it") as caught:
        read_object()
    shown += str(caught.value) + repr(caught.value) + str(caught.value.__dict__)
    s3.always = servers.dropped
    with pytest.raises(OSError) as caught:
        read_object()
    shown += str(caught.value) + str(caught.value.__dict__)
    for secret in ("sesame", "AKIDSECRET", "Signature", "AWS4"):
        assert secret not in shown
    assert "AWS_SECRET_ACCESS_KEY" not in dict((name, value) for name, value, _ in hr.environment())
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "sesame"
