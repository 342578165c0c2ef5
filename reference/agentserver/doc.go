// Package agentserver is the reference agent server. It serves threads, runs and their state over HTTP, for the graphs of
// one deployment (interface, sections 1, 2, 4 "Agent server" and 5 "Agent server custom authentication").
//
// Start reading with server.go, and for rollback with begin in runs.go:
//
//	server.go    options, routes and the redaction of secrets (section 4)
//	threads.go   threads and their state (sections 2 and 4)
//	runs.go      create runs with the multitask strategies, cancel, list, join (sections 3 and 4)
//	execute.go   executes the graph of a run
//	records.go   the stored records (section 2)
//	auth.go      authentication and authorization (section 5)
//	app.go       loads the graphs and the handler of a source (section 5, item 3)
//
// A [Server] serves an [App]. [Server.Swap] replaces it by the App of a new revision. The threads remain, and runs in
// progress finish with the App with which they started.
//
// # Rollback
//
// Each transaction that writes messages checks that the run is still in progress. A run that was deleted or interrupted
// can therefore not write any more, even if its script is still running. A rollback needs no cooperation of the script:
// one transaction deletes the unfinished runs and all of their messages, and adds the new run (runs.go, begin).
//
// # Graphs and handlers
//
// Graphs and handlers are Starlark. Package script limits their steps and their time. A file can load other files with
// load("x.star", "name"), from its own folder or from the folders under "dependencies". In addition to the language, they
// can use json.encode, json.decode, env(name, default) for secrets and settings, fail_http(status, detail) and
// is_studio_user(user).
//
//	def agent(messages, config, ctx):       # the graph; the parameter ctx is optional
//	    user = config["configurable"]["graph_auth_user"]
//	    ctx.write({"role": "ai", "content": "one moment"})  # is in the state of the thread when write returns
//	    ctx.wait(100)                                       # milliseconds; ends early when the run is stopped
//	    return [{"role": "ai", "content": "hello " + user["identity"]}]
//
// Messages are dicts with type, content and id. They are all messages of the thread, with the input of this run at the
// end. A graph returns a list of messages, one message, a text, or None.
//
//	def authenticate(request):              # request.method, .path, .headers (lower-cased names), .query
//	    if request.headers.get("x-token") != env("TOKEN"):
//	        fail_http(401, "Invalid credentials")
//	    return {"identity": "alice", "role": "developer"}
//
//	def owned(ctx, value):                  # ctx.user, .permissions, .resource, .action; value is the payload
//	    return {} if is_studio_user(ctx.user) else {"owner": ctx.user.identity}
//
//	auth = {"authenticate": authenticate, "on": {"threads": owned}}
//
// The handler of an action is "threads.<action>", or "threads", or "*". The actions are create, read, update, delete,
// search and create_run. A handler that returns a dict restricts the action to threads whose metadata contains its values;
// the values are also merged into metadata that is written. None and True allow the action, and False returns 403.
//
// Requests of the visual development environment have X-Auth-Scheme: studio and a valid X-Api-Key. The key authenticates
// them instead of the handler. The handler authorizes them like all other requests.
//
// # Additions to the interface
//
// Clients can get, search and delete threads, and list and cancel runs.
package agentserver
