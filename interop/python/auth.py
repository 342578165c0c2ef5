"""Authentication for the conformance graph: bearer tokens of known users; threads belong to the user who created them.

CONFORMANCE_USERS is a JSON array of objects with name, token, identity and role. Optional are team, a custom field that also
restricts access to threads, and blocked, which is true for a user who is refused.
"""

import hmac
import json
import os

from langgraph_sdk import Auth
from langgraph_sdk.auth import is_studio_user

auth = Auth()
USERS = json.loads(os.environ.get("CONFORMANCE_USERS", "[]"))


def header(headers, name):
    """The value of a header, or "". Some servers have names and values as bytes, and names in any case."""
    return next((as_text(value) for key, value in headers.items() if as_text(key).lower() == name), "")


def as_text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


@auth.authenticate
async def authenticate(headers: dict):
    """The user of a token. All servers pass the headers: by name, or as the only argument."""
    scheme, _, token = header(headers, "authorization").partition(" ")
    for user in USERS:
        if scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), user["token"].encode()):
            if user.get("blocked"):
                raise Auth.exceptions.HTTPException(status_code=403, detail="This account is blocked")
            return {
                "identity": user["identity"],
                "display_name": user["name"],
                "role": user["role"],
                "access_token": token,  # for the graph; whoami does not return it
                **({"team": user["team"]} if "team" in user else {}),
            }
    raise Auth.exceptions.HTTPException(status_code=401, detail="Invalid credentials")


def own(user):
    """The filter of a user: two users may have the same identity in different teams."""
    if "team" in user:
        return {"owner": user.identity, "team": user["team"]}
    return {"owner": user.identity}


@auth.on.threads
async def owned(ctx: Auth.types.AuthContext, value: dict):
    """The filter for all operations on threads and their runs.

    A studio user, whom the platform has authenticated and not the handler above, sees all of them: leave the first line out if
    that is not what you want.
    """
    if is_studio_user(ctx.user):
        return {}
    return own(ctx.user)


@auth.on.threads.create
async def create(ctx: Auth.types.AuthContext, value: dict):
    """A new thread stores its owner. The server reads the metadata from this dict: change it, do not replace it.

    Without metadata in the request, some servers pass None.
    """
    if value.get("metadata") is None:
        value["metadata"] = {}
    value["metadata"].update(own(ctx.user))
    return own(ctx.user)
