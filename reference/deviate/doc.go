// Package deviate makes a server deviate from the interface. What a fault or an equivalent mutant does is data: a row of
// a YAML file.
//
// Start reading with [Row] and [Row.Around]. [Load] reads rows; place.go, condition.go, change.go and verbs.go read and
// execute their texts; exchange.go holds one request with its response.
//
// # Rows
//
// A row contains conditions ("when") and changes ("do"):
//
//	fault: limit-is-capped-at-20
//	breaks: a limit above 20 is reduced to 20
//	fails: CP-LIST-2
//	when: [list-revisions, query.limit > 20, query.limit <= 100]
//	do: query.limit = 20
//
// The first element of "when" names operations of the OpenAPI documents:
//
//	list-revisions                    an operation
//	get-revision or list-revisions    several operations
//	control-plane, agent-server       all operations of a half without vendor extensions
//	every control-plane               all operations of a half with vendor extensions and unknown paths
//	unknown-path-of-control-plane     paths of a half that its document does not contain
//	all                               all operations and unknown paths
//
// The other elements are conditions. A row that makes several changes has a list "changes" of "when" and "do". An
// equivalent mutant has "equivalent" and "differs" instead of "fault" and "breaks". The other keys of a row are:
//
//	also, unjudged: further requirements that fail, or that are not judged, each with the reason
//	config: configuration keys of the test run
//	pace: how long a revision keeps each status
//	queued: how long the third run of a thread is pending
//	hangs, once, elsewhere, explored: see [Row]
//
// # Places
//
// A place starts with a root. A row may change these:
//
//	method, query, header, path (its parameters, or the whole path), request (the JSON of the request)
//	status, answer (the JSON of the response), each (its rows, or itself), answer-header, body (the response body as text)
//	kept (values that the row stores for an object: a deployment or a thread), common (values that it stores for all)
//
// It may only read these, with the credentials of the request:
//
//	deployment, latest (its latest revision), revisions, threads, thread, state, run
//	before (the deployment before the request)
//	sent (the request body as text), url (its path, with that of the server), question (its query, with the ?)
//	link (the address of the client, which identifies the connection)
//	owner (the credentials of the owner of the object, by header)
//	home (the thread of the run in the path, or the deployment of the revision)
//	clock (the current time), end (the end of a run that is created now, computed from its input), fresh-id (a new UUID)
//	was (the current value of the changed place), its (the object that contains the changed place)
//
// Members follow after dots. In a list, * means each item, 2 one item, -1 the last, 10- all items from there on,
// [type=tool] the items with such a member, and [=limit] the items that are equal. The documents must contain the member,
// unless "new" declares it.
//
// # Conditions
//
//	PLACE = VALUE, also != < > <= >= (for numbers and times) starts ends has matches
//	PLACE is absent, present (not null), null, empty, filled, text, number, integer, list, object
//	status = 2xx
//	count PLACE = N
//	caller anonymous, without-credentials (or with empty ones), first (the creator of the first object), owner (of the
//	       object), maker (the owner of home), gone (has closed the connection; write it after a condition on the response)
//	known PARAMETER (a request with that ID has succeeded)
//	after OPERATION (it has succeeded with the same object); within 60ms of OPERATION (since then)
//	nth N, every N, first N (of the exchanges of an object that met all conditions before; "of all" counts all objects)
//	not CONDITION
//
// # Changes
//
//	PLACE = VALUE, PLACE ?= VALUE (if there is no value), new PLACE = VALUE (a member that the documents do not contain)
//	drop PLACE
//	refuse STATUS DETAIL
//	as owner (with the credentials of the owner; the change does not apply if the owner is unknown)
//	unserved (the server never receives the request)
//	beside (the changed request is served in addition, and its response is not sent)
//	hang (no response), close (the connection is closed), delay 2s, until PLACE (a time)
//
// Verbs change the value at a place:
//
//	another, null, text, number PLACE           add PLACE N
//	reverse PLACE                               first PLACE N; append, prepend PLACE VALUE
//	except PLACE NAME VALUE                     older PLACE AGE
//	upper, lower PLACE                          without, trim, up-to, behind-last PLACE TEXT
//	replace PLACE WORD TEXT                     shift PLACE DURATION
//	only PLACE NAMES; rename PLACE FROM TO      stale, late PLACE (the previous value), foreign PLACE (of another object)
//
// A value that begins with [, { or a quote, a number, true, false and null are YAML. All other values are texts. <PLACE> in
// a value is replaced by the value at the place; <PLACE|0> has a default. "20 of VALUE" is a list of 20 such values.
//
// # Order
//
// Changes of the request are made before it is served. If a condition reads the response, the original request is served
// first, and the changed request is served after it. With "beside", both are served and the original response is sent.
// If no condition reads the status, only successful responses are changed.
//
// Rows are YAML and not Go, because a row reads like the sentence about its fault and cannot hide code. What an
// equivalent mutant changes below HTTP or inside the reference stays Go.
package deviate
