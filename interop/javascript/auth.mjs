// Authentication for the conformance graph: bearer tokens of known users; threads belong to the user who created them.
//
// CONFORMANCE_USERS is a JSON array of objects with name, token, identity and role. Optional are team, a custom field that also
// restricts access to threads, and blocked, which is true for a user who is refused.
import { Auth, HTTPException, isStudioUser } from "@langchain/langgraph-sdk/auth";

const USERS = JSON.parse(process.env.CONFORMANCE_USERS ?? "[]");

// The filter of a user: two users may have the same identity in different teams.
const own = ({ identity, team }) => (team ? { owner: identity, team } : { owner: identity });

export const auth = new Auth()
  .authenticate(async (request) => {
    const [, token] = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const user = USERS.find((user) => token !== undefined && user.token === token);
    if (!user) throw new HTTPException(401, { message: "Invalid credentials" });
    if (user.blocked) throw new HTTPException(403, { message: "This account is blocked" });
    const { identity, name, role, team } = user;
    // access_token is for the graph; whoami does not return it.
    return { identity, display_name: name, role, access_token: token, ...(team && { team }) };
  })
  // The filter for all operations on threads and their runs. A studio user, whom the platform has authenticated and not the
  // handler above, sees all of them: leave that out if it is not what you want.
  .on("threads", ({ user }) => (isStudioUser(user) ? {} : own(user)))
  // A new thread stores its owner; the filter above finds it by that.
  .on("threads:create", ({ value, user }) => {
    value.metadata = { ...value.metadata, ...own(user) };
    return own(user);
  });
