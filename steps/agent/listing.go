package agent

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/target"
)

const searchPath = ThreadsPath + "/search"

// findListing finds out with which endpoint the server lists threads, where the configuration does not say: GET /threads is tried
// as the user, and if that is not served (404 or 405) and POST /threads/search is, the latter is used from then on. The error is
// that of the context: a server that does not answer is judged by the list itself.
func findListing(ctx context.Context, s *Server) error {
	if s.target.Config.Agent.Listing != "" {
		return nil
	}
	_, err := s.agents.learned.lists.search.Get(ctx, s.agents.maker, "the listing endpoint", func(ctx context.Context) (bool, error) {
		who := s.target.Owner()
		if who.User == nil {
			who = target.Caller{}
		}
		listed, err := s.ask(ctx, who, http.MethodGet, ThreadsPath, nil)
		if err != nil || !target.NotServed(listed) {
			return false, ctx.Err()
		}
		found, err := s.ask(ctx, who, http.MethodPost, searchPath, (*Filter)(nil).body(0))
		if err != nil || target.NotServed(found) || found.Status >= http.StatusInternalServerError {
			return false, ctx.Err()
		}
		s.target.ListsBySearch()
		s.target.NoteListing(listed)
		return true, nil
	})
	return err
}

// AskOtherEndpoint lists the threads by the endpoint that is not used.
func (s *Server) AskOtherEndpoint(ctx context.Context, who target.Caller) (*client.Answer, error) {
	if err := findListing(ctx, s); err != nil {
		return nil, err
	}
	if s.target.Searches() {
		return s.ask(ctx, who, http.MethodGet, ThreadsPath, nil)
	}
	return s.ask(ctx, who, http.MethodPost, searchPath, (*Filter)(nil).body(0))
}

// ServesOtherEndpoint tells whether the listing endpoint that is not used serves the user. A target needs only one.
func (s *Server) ServesOtherEndpoint(ctx context.Context) (bool, error) {
	return s.agents.learned.lists.other.Get(ctx, s.agents.maker, "the other listing endpoint", func(ctx context.Context) (bool, error) {
		a, err := s.AskOtherEndpoint(ctx, s.target.Owner())
		if err == nil && s.target.Searches() {
			s.target.NoteListing(a)
		}
		return err == nil && a.OK(), err
	})
}
