package outcome

import (
	"net/http"

	"github.com/agentconform/agentconform/steps/exchange"
)

// Kind is the kind of a server's mistake, from a closed list. The id of a finding depends on the kind, and not on any
// wording.
type Kind string

// The kinds of violations.
const (
	Accepted    Kind = "accepted"     // a request was served that must be refused
	Refused     Kind = "refused"      // a request was refused that must be served
	WrongStatus Kind = "wrong-status" // a response has a status other than the one in the interface
	WrongDetail Kind = "wrong-detail" // a refusal has no detail, or its detail does not name the mistake
	ServerError Kind = "server-error" // a response has a status of 500 or above
	NoResponse  Kind = "no-response"  // a request got no response
	Contract    Kind = "contract"     // a response does not match the OpenAPI contract

	Missing    Kind = "missing"     // a response lacks a field or a value
	WrongForm  Kind = "wrong-form"  // a value has another type or format
	WrongValue Kind = "wrong-value" // a value is not the one that was sent or created

	MissingItem  Kind = "missing-item"  // a list lacks an item
	ExtraItem    Kind = "extra-item"    // a list has an item that does not belong to it
	RepeatedItem Kind = "repeated-item" // a list has an item twice
	WrongOrder   Kind = "wrong-order"   // a list has a wrong order

	Changed    Kind = "changed"     // a value changed that must not change
	NoEffect   Kind = "no-effect"   // a request was served and had no effect
	Stale      Kind = "stale"       // a response shows a state from before a write
	NotRemoved Kind = "not-removed" // a response still shows something that was removed
	Leak       Kind = "leak"        // a response shows a caller the data of another

	TooEarly    Kind = "too-early"    // a response came too early: it should have waited for something
	NotFinished Kind = "not-finished" // a run or a revision did not reach its end in time
)

// Unserved returns the kind of the violation by a response to a valid request that is not the required one.
func Unserved(a *exchange.Response) Kind {
	switch {
	case a.OK():
		return Missing
	case a.IsRefused():
		return Refused
	case a.Status >= http.StatusInternalServerError:
		return ServerError
	}
	return WrongStatus
}
