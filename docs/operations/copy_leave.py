"""python copy_leave.py COPY HERE SLUG: copy approved leave that COPY has and HERE lacks.

COPY and HERE are addresses of two running Hiatus, OWNER_KEY is the API key of an owner in both.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

COPY, HERE, SLUG = sys.argv[1:]
OWNER = os.environ["OWNER_KEY"]
FIELDS = ("leave_type_id", "start_date", "end_date", "start_half_day", "end_half_day", "note")


def call(url, key, body=None, method="GET"):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def approved_leave(base):
    cursor = ""
    while cursor is not None:
        page = call(f"{base}/api/v1/leave-requests?status=approved&limit=100{cursor}", OWNER)
        yield from page["data"]
        next_cursor = page["pagination"]["next_cursor"]
        cursor = next_cursor and f"&cursor={next_cursor}"


def key_of(email):
    words = ["--email", email, "--name", "restore", "--scope", "leave:write", "--json"]
    command = ["hiatus", "keys", "create", "--organisation", SLUG, *words]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["api_key"]


emails = {user["id"]: user["email"] for user in call(f"{HERE}/api/v1/users", OWNER)}
still_there = {request["id"] for request in approved_leave(HERE)}
keys = {}
for old in approved_leave(COPY):
    if old["id"] in still_there:
        continue
    try:
        if old["user_id"] not in keys:
            keys[old["user_id"]] = key_of(emails[old["user_id"]])
        body = {name: old[name] for name in FIELDS}
        new = call(f"{HERE}/api/v1/leave-requests", keys[old["user_id"]], body, "POST")
        if new["status"] == "pending":
            call(f"{HERE}/api/v1/approvals/{new['id']}/approve", OWNER, method="POST")
        print(old["id"], "is now", new["id"])
    except urllib.error.HTTPError as error:
        print(old["id"], "was not copied:", json.load(error)["detail"])
    except (KeyError, subprocess.CalledProcessError) as error:
        print(old["id"], "was not copied:", error)
