// Package deviate makes a server deviate from the interface as rows of a table say: what a fault or an equivalent
// mutant does is data.
//
// A row tells when a server deviates and what it does then. First stands the operation of the OpenAPI documents: several
// with "or"; "control-plane" or "agent-server" for all that the interface has of a half, with "every" before it also for vendor
// extensions and for paths that the documents do not have (unknown-path-of-control-plane, unknown-path-of-agent-server);
// or "all". Then conditions follow. The files of rows are YAML lists:
//
//	fault: limit-is-capped-at-20
//	breaks: a limit above 20 is reduced to 20
//	fails: CP-LIST-2
//	when: [list-revisions, query.limit > 20, query.limit <= 100]
//	do: query.limit = 20
//
// A row that changes several things in turn has a list "changes" of such "when" and "do". What differs between servers and
// breaks nothing has "equivalent" and "differs" in place of "fault" and "breaks". More keys of a row:
//
//	also, unjudged: further requirements that fail, or that an equivalent mutant leaves unjudged, each with the reason
//	config: keys of the configuration with which the server is tested
//	pace: how long a revision stays in each status
//	queued: how long the third run of a thread stays pending
//	hangs, once, elsewhere, explored: see [Row]
//
// # Places
//
// A place begins with what it is a part of. A row may change:
//
//	method, query, header, path (its parameters, or all of it), request (the JSON that was sent)
//	status, answer (the JSON that is answered), each (its rows, or itself), answer-header, body (the answer as a text)
//	kept (what the row keeps for an object: a deployment or thread), common (what it keeps for all)
//
// and read, with the credentials of the request:
//
//	deployment, latest (its latest revision), revisions, threads, thread, state, run
//	before (the deployment as it was before the request)
//	sent (the request as a text), url (its path, with that of the server), question (its query, with the ?)
//	owner (the credentials of who owns the object, by header)
//	home (the thread in which the run of the path was created, or the deployment of a revision)
//	clock (the time), end (when a run ends that is created now, as its input says), fresh-id (a new UUID)
//	was (beside a place: its own value), its (its neighbours)
//
// Members follow with dots; of a list * is each item, 2 one, -1 the last, 10- all from there on, [type=tool] those with such
// a member, [=limit] those that are equal. A member must be one that the documents know, but for "new".
//
// # Conditions
//
//	PLACE = VALUE, also != < > <= >= (of numbers and times) starts ends has matches
//	PLACE is absent, present (not null), null, empty, filled, text, number, integer, list, object
//	status = 2xx
//	count PLACE = N
//	caller anonymous, without-credentials (also empty ones), first (who made the first object), owner (of the object),
//	       maker (the owner of home)
//	known PARAMETER (a request with that id has succeeded)
//	after OPERATION (it has succeeded with the same object); within 60ms of OPERATION (since then)
//	nth N, every N, first N (of the exchanges of an object that met all conditions before it; of all with "of all")
//	not CONDITION
//
// # Changes
//
//	PLACE = VALUE, PLACE ?= VALUE (where there is none), new PLACE = VALUE (a member that the documents do not have)
//	drop PLACE
//	refuse STATUS DETAIL
//	as owner (nothing where none is known), unserved, beside, hang, close (the connection), delay 2s,
//	until PLACE (a time)
//
// Verbs change what stands at a place:
//
//	another, null, text, number PLACE           add PLACE N
//	reverse PLACE                               first PLACE N; append, prepend PLACE VALUE
//	except PLACE NAME VALUE                     older PLACE AGE
//	upper, lower PLACE                          without, trim, up-to, behind-last PLACE TEXT
//	replace PLACE WORD TEXT                     shift PLACE DURATION
//	only PLACE NAMES; rename PLACE FROM TO      stale, late PLACE (the value before), foreign PLACE (of another object)
//
// A value that begins with [ { or a quote, a number, true, false and null are YAML; others are texts. <PLACE> in a value is
// what stands there, <PLACE|0> with what it is where nothing does. "20 of VALUE" is a list of 20 such values.
//
// # In which order
//
// Changes of the request are made before it is served. Where a condition looks at the answer, the request is served as it
// came first, and once more with the changes. With beside it is served both ways, and the answer without the changes counts.
// Where no condition looks at the status, answers that succeed are changed.
//
// Beside these a row has what the fields of Row say, for package faults.
package deviate
