package controlplane

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Options says what a control plane is made of. Store, Pipeline and AgentURL are needed; the rest has defaults.
type Options struct {
	Edition  Edition
	Tenants  []Tenant
	Store    Store
	Pipeline Pipeline
	AgentURL func(deploymentID string) string // where a deployment's agent server answers
	Now      func() time.Time                 // time.Now by default
	Log      *slog.Logger                     // none by default
}

// Server answers the operations of the control plane. It is an http.Handler that holds no state of its own.
type Server struct {
	service  service
	guard    guard
	agentURL func(string) string
	log      *slog.Logger
	routes   *http.ServeMux
}

// New makes a control plane.
func New(opts Options) (*Server, error) {
	if opts.Edition != Cloud && opts.Edition != SelfHosted {
		return nil, fmt.Errorf("control plane: edition %q is unknown; give %q or %q", opts.Edition, Cloud, SelfHosted)
	}
	if opts.Store == nil || opts.Pipeline == nil || opts.AgentURL == nil {
		return nil, errors.New("control plane: Store, Pipeline and AgentURL are needed")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		service:  service{edition: opts.Edition, store: opts.Store, pipeline: opts.Pipeline, now: utc(opts.Now)},
		guard:    newGuard(opts.Tenants),
		agentURL: opts.AgentURL,
		log:      opts.Log,
	}
	s.routes = s.router()
	return s, nil
}

// utc cuts times to microseconds: what is answered at once is then what is read back later.
func utc(now func() time.Time) func() time.Time {
	return func() time.Time { return now().UTC().Truncate(time.Microsecond) }
}
