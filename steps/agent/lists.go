package agent

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

const searchPath = ThreadsPath + "/search"

// If a search without a limit may be incomplete, the suite reads at most searchPages pages with the limit searchPage.
const searchPage, searchPages = 100, 50

// LeastPage is the smallest page size that a server is assumed to use: a shorter list is complete.
const LeastPage = 10

// Filter narrows a list of threads, with the parameters of the search operation: "metadata" (an object) and "ids" (an
// array). A nil Filter sends no parameters.
type Filter map[string]any

// List returns the threads that the caller can list, and the last response that added a thread. It uses the configured
// listing operation, or else the one that the target serves. Filters go to the search operation, because GET /threads has
// none. If wanted threads are given, a short first list is complete only if it contains one of them.
func (s *Server) List(ctx context.Context, who target.Caller, f Filter, wanted ...*Thread) (Listing, *exchange.Response, error) {
	if err := s.findListing(ctx); err != nil {
		return nil, nil, err
	}
	if f == nil && !s.target.Searches() {
		a, err := s.listBy(ctx, who, false)
		if err != nil {
			return nil, nil, err
		}
		return ListingOf(a), a, nil
	}
	last, err := s.search(ctx, who, f, nil)
	if err != nil {
		return nil, nil, err
	}
	all := ListingOf(last)
	isShown := func(t *Thread) bool { return all.Thread(t.ID).Exists() }
	isAll := all.Len() < LeastPage && (len(wanted) == 0 || slices.ContainsFunc(wanted, isShown))
	if all == nil || isAll {
		return all, last, nil
	}
	// Read again from the start with a limit: without one, the server decides which threads it returns.
	shown := map[string]bool{}
	for range searchPages {
		a, err := s.search(ctx, who, f, map[string]any{"limit": searchPage, "offset": len(shown)})
		if err != nil {
			return nil, nil, err
		}
		before, page := len(shown), ListingOf(a)
		for _, row := range page.All() {
			shown[strings.Clone(nameOf(row))] = true
		}
		all = append(all, page...)
		if len(shown) == before {
			break
		}
		last = a
	}
	return all, last, nil
}

func (s *Server) listBy(ctx context.Context, who target.Caller, search bool) (*exchange.Response, error) {
	if search {
		return s.search(ctx, who, nil, nil)
	}
	return s.send(ctx, who, http.MethodGet, ThreadsPath, nil)
}

// ListByQuery sends GET /threads with a query, which a server may refuse. It returns a not applicable outcome if GET
// without a query is not served.
func (s *Server) ListByQuery(ctx context.Context, who target.Caller, query url.Values) (*exchange.Response, error) {
	if err := s.findListing(ctx); err != nil {
		return nil, err
	}
	if s.target.Searches() {
		if _, err := s.ListOther(ctx, who); err != nil {
			return nil, err
		}
	}
	r := s.target.ToAgent(s.Base, who, http.MethodGet, ThreadsPath+"?"+query.Encode(), nil)
	r.Wrong = true
	return s.target.Client.Do(ctx, r)
}

// search sends a filter and the parameters of a page.
func (s *Server) search(ctx context.Context, who target.Caller, f Filter, page map[string]any) (*exchange.Response, error) {
	body := map[string]any{}
	maps.Copy(body, page)
	maps.Copy(body, f)
	return s.send(ctx, who, http.MethodPost, searchPath, body)
}

// findListing finds the endpoint that lists threads, unless the configuration names it. It tries GET /threads as the
// user. If the server does not have that route (404, 405 or 501) but has POST /threads/search, the search is used from
// then on. The same applies if GET /threads returns no array and the search returns one. The error is the cause of the
// context. A server that does not respond is judged by the scenarios that list threads.
func (s *Server) findListing(ctx context.Context) error {
	if s.target.Config.Agent.Listing != "" {
		return nil
	}
	_, err := shared.Get(ctx, s.maker, "the listing endpoint", func(ctx context.Context) (bool, error) {
		who := s.target.Owner()
		if who.User == nil {
			who = target.Caller{}
		}
		listed, err := s.listBy(ctx, who, false)
		if err != nil {
			return false, ctx.Err()
		}
		isNotArray := listed.OK() && !listed.IsArray()
		if !isNotArray && !target.NotServed(listed) {
			return false, nil
		}
		found, err := s.listBy(ctx, who, true)
		if err != nil || target.NotServed(found) || found.Status >= http.StatusInternalServerError {
			return false, ctx.Err()
		}
		if isNotArray && !found.IsArray() {
			return false, nil
		}
		s.target.ListsBySearch()
		s.target.NoteListing(listed)
		return true, nil
	})
	return err
}

// ReadsOf returns the paths of GET requests that may show data of a run, including the list of threads if GET lists them.
func (s *Server) ReadsOf(ctx context.Context, g *GraphRun) ([]string, error) {
	paths := []string{StatePath(g.Thread.ID), runPath(g.Thread.ID, g.ID), joinPath(g.Thread.ID, g.ID)}
	if err := s.findListing(ctx); err != nil || s.target.Searches() {
		return paths, err
	}
	return append(paths, ThreadsPath), nil
}

// ListOther lists the threads with the endpoint that [Server.List] does not use. If that endpoint does not serve the
// user, it returns a skip, because a target needs only one of the two.
func (s *Server) ListOther(ctx context.Context, who target.Caller) (*exchange.Response, error) {
	if err := s.findListing(ctx); err != nil {
		return nil, err
	}
	search := !s.target.Searches()
	serves, err := shared.Get(ctx, s.maker, "the other listing endpoint", func(ctx context.Context) (bool, error) {
		a, err := s.listBy(ctx, s.target.Owner(), search)
		if err == nil && !search {
			s.target.NoteListing(a)
		}
		return err == nil && a.OK(), err
	})
	if err == nil && !serves {
		err = outcome.Inapplicable("a second endpoint that lists threads",
			"the target lists threads at one endpoint only (agent.listing)")
	}
	if err != nil {
		return nil, outcome.AsPrecondition(err)
	}
	return s.listBy(ctx, who, search)
}

// Listing has the pages of a list of threads. It is nil if no response is a list. The threads are parsed on each use,
// because many scenarios keep a list and it may be long.
type Listing []*exchange.Response

// ListingOf returns a listing with one page.
func ListingOf(a *exchange.Response) Listing {
	if a.OK() && a.IsArray() {
		return Listing{a}
	}
	return nil
}

// MayLack reports whether a thread that is missing from a search may be on a page that was not read. It may be if the
// last page has at least LeastPage threads, because the server may have its own limit and ignore the offset.
func (l Listing) MayLack() bool {
	if len(l) == 0 || l[0].Request.Method != http.MethodPost {
		return false
	}
	return l[len(l)-1:].Len() >= LeastPage
}

// All yields the threads, each with its place in its page.
func (l Listing) All() iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		for _, page := range l {
			for i, row := range gjson.ParseBytes(page.Body).Array() {
				if !yield(i, row) {
					return
				}
			}
		}
	}
}

// Len returns the number of different threads.
func (l Listing) Len() int {
	shown := map[string]bool{}
	for _, row := range l.All() {
		shown[nameOf(row)] = true
	}
	return len(shown)
}

// nameOf returns the key of a listed thread, or its JSON if it has no id.
func nameOf(row gjson.Result) string {
	return cmp.Or(exchange.IDKey(row.Get("thread_id").String()), row.Raw)
}

// Thread returns the thread as the listing shows it. If the thread is missing, the value does not exist.
func (l Listing) Thread(id string) gjson.Result {
	for _, row := range l.All() {
		if exchange.SameID(row.Get("thread_id").String(), id) {
			return row
		}
	}
	return gjson.Result{}
}
