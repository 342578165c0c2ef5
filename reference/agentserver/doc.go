// Package agentserver is the reference's agent server: threads, runs and their state over HTTP, for the graphs of one
// deployment (interface, sections 1, 2, 4 "Agent server" and 5 "Agent server custom authentication").
//
// # Parts
//
//	server.go    what it is made of, routes, who calls; secrets stay out of errors and logs
//	threads.go   threads and their state
//	runs.go      runs: create with the multitask strategies, cancel, list, join
//	execute.go   runs the graph of a run
//	records.go   what is kept, and how it is read and written
//	auth.go      the authentication and authorization handlers
//	app.go       what a source defines: its graphs, and its handler if it has one
//
// A Server serves an App. Swap gives it another App, the next revision: threads stay, and runs that are in progress
// finish with the App they began with.
//
// # Rollback
//
// A run's right to write is checked in the transaction that writes: a run that was deleted or interrupted cannot write
// any more, whatever its script is doing at that moment. So rollback needs no handshake with the script: one
// transaction deletes the unfinished runs and every message they wrote and adds the new run (runs.go, begin).
//
// # Graphs and handlers
//
// Both are Starlark, run in bounds of steps and time by the package script. A file may load others with
// load("x.star", "name"), from its own folder or from the folders under "dependencies". All of them find
// json.encode, json.decode, env(name, default) for secrets and settings, fail_http(status, detail) and
// is_studio_user(user) beside the language.
//
//	def agent(messages, config, ctx):       # the graph; ctx may be left out
//	    user = config["configurable"]["graph_auth_user"]
//	    ctx.write({"role": "ai", "content": "one moment"})  # in the thread's state when it returns
//	    ctx.wait(100)                                       # milliseconds; ends early when the run is stopped
//	    return [{"role": "ai", "content": "hello " + user["identity"]}]
//
// Messages are dicts with type, content and id: all of the thread's, this run's input last. A graph returns a list of
// messages, one message, a text, or None.
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
// Handlers are looked up as "threads.<action>", "threads", then "*"; actions are create, read, update, delete, search
// and create_run. A dict is a filter: it restricts what is found, and is merged into the metadata of what is written.
// None and True allow, False is a 403.
//
// Requests of the visual development environment carry X-Auth-Scheme: studio and a valid X-Api-Key. They are
// authenticated by the key instead of the handler, and authorized by the handler like all others.
//
// # Beyond the interface
//
// Threads can be read, searched and deleted, and runs listed and cancelled.
package agentserver
