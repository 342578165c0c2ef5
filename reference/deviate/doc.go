// Package deviate makes a server deviate from the interface as rows of a table say: what a fault or an equivalent
// mutant does is data.
//
// A row tells when a server deviates and what it does then. First stands the operation of the OpenAPI documents (several
// with "or", control-plane or agent-server for those of a half, or all), then conditions. The files of rows are YAML:
//
//	[
//	  fault:  limit-is-capped-at-20
//	  breaks: a limit above 20 is reduced to 20
//	  fails:  CP-LIST-2
//	  when:   [list-revisions, query.limit > 20, query.limit <= 100]
//	  do:     query.limit = 20
//	]
//
// A row that changes several things in turn has a list "changes" of such "when" and "do". What differs between servers and
// breaks nothing has "equivalent" and "differs" in place of "fault" and "breaks".
//
// # Places
//
// A place begins with what it is a part of: method, query, header, path (its parameters, or all of it), request (the JSON
// that was sent), status, answer (the JSON that is answered), each (its rows, or itself), answer-header, body (the answer
// as a text). Members follow with dots; of a list * is each item, 2 one, -1 the last, 10- all from there on, [type=tool]
// those with such a member, [=limit] those that are equal.
//
// Some are looked up with the credentials of the request: deployment, latest (its latest revision), revisions, thread,
// state, run; before is the deployment as it was before the request. kept is what the row keeps for an object (deployment
// or thread), common what it keeps for all. owner has the credentials of who owns the object, home is the thread in which
// the run of the path was created (or the deployment of a revision), clock is the time, fresh-id a new UUID. Beside a place, was is its own value and
// its.name that of a neighbour.
//
// # Conditions
//
//	PLACE = VALUE, also != < > <= >= starts ends has alike almost matches
//	PLACE is KIND (absent, present, null, empty, filled, text, number, integer, list, object)
//	count PLACE = N
//	caller WHO (anonymous, owner, first, ...)
//	known PARAMETER (a request with that id has succeeded)
//	after OPERATION (of the same object)
//	nth N, every N, first N (of the exchanges of an object that met all conditions before it)
//	not CONDITION
//
// # Changes
//
//	PLACE = VALUE (?= where there is none yet)
//	drop PLACE
//	VERB PLACE [VALUE], such as: add query.offset 1
//	refuse STATUS TEXT, plain TEXT
//	as owner, unserved, beside, twice, hang, delay 2s
//
// A value is YAML; <PLACE> in it is what stands there, <PLACE|0> with what it is where nothing does. Changes of the request
// are made before it is served. Where a condition looks at the answer, the request is served as it came first, and once
// more with the changes; with beside the first answer counts. Where no condition looks at the status, answers that succeed
// are changed.
package deviate
