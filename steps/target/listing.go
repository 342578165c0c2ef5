package target

import (
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// Searches tells whether threads are listed with the search endpoint: the configuration says so, or it says nothing and the target
// was seen to serve no other.
func (t *Target) Searches() bool {
	if t.Config.Agent.Listing != "" {
		return t.Config.Agent.Listing == "search"
	}
	return t.searches.Load()
}

// NotServed tells whether an answer says that the server has no such operation.
func NotServed(a *client.Answer) bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed
}

// NoteListing notes that GET /threads, which the interface shows, is not served. The answer is that to it.
func (t *Target) NoteListing(a *client.Answer) {
	if NotServed(a) {
		t.Note(reports.Note{Kind: reports.NoteListing, Exchange: a.ID,
			Text: fmt.Sprintf("GET /threads is answered with %d; threads are listed with POST /threads/search", a.Status)})
	}
}

// ListingHint names the configuration that a list without the expected thread may ask for.
func (t *Target) ListingHint() string {
	switch {
	case t.Config.Agent.Listing == "search":
		return "agent.listing is search: if the target lists threads at GET /threads, set it to get"
	case t.Config.Agent.Listing == "get":
		return "agent.listing is get: if the list is a page, or the target lists threads by the search operation only, set it to search"
	case t.Searches():
		return "GET /threads is not served, so POST /threads/search was tried: set agent.listing if that is not how the target lists threads"
	}
	return "if the list is a page, or the target lists threads by the search operation, set agent.listing to search"
}
