"""What the tests of the Python client share: clients for two users, and a note of each call with its result."""

import json
import os
import unittest

from langgraph_sdk import get_client

URL = os.environ["AGENT_URL"]


def client(token):
    return get_client(url=URL, api_key=None, headers={"Authorization": f"Bearer {token}"})


class Calls(unittest.IsolatedAsyncioTestCase):
    """A test case with a client for the owner and one for another user."""

    async def asyncSetUp(self):
        self.owner = client(os.environ["AGENT_TOKEN"])
        self.other = client(os.environ["OTHER_TOKEN"])

    def works(self, call):
        """Notes that a call works; the test has asserted it before."""
        self._note(call, "works", None)

    async def refused(self, call, awaitable, status):
        """Asserts that the server refuses a call with a status, notes its detail, and returns it."""
        try:
            await awaitable
        except Exception as error:  # the client has a class of its own for each status
            response = getattr(error, "response", None)
            self.assertIsNotNone(response, f"{call}: {error!r}")
            self.assertEqual(response.status_code, status, response.text)
            detail = response.json()["detail"]
            self._note(call, f"refused with {status}", detail)
            return detail
        self.fail(f"{call} was not refused")

    def _note(self, call, result, detail):
        with open(os.environ["CALLS"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"call": call, "result": result, "detail": detail}) + "\n")
