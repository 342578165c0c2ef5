package html

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// findingView is a finding with the exchanges that led to it.
type findingView struct {
	*reports.Finding
	Compare   comparison
	Replay    string // the command that judges it again
	Script    string // the script that reproduces it
	What      string
	Scenario  *reports.Scenario
	KnownText string
	Chain     []chainLink
}

// chainLink is one exchange of the chain. Evidence is set for the one that shows the violation: its bodies are in the
// page for readers without scripts; those of the others are unpacked when they are opened.
type chainLink struct {
	Part     reports.Part
	Row      exchangeRow
	Evidence *evidence
	Skipped  int // exchanges left out before this one
}

// evidence is an exchange shown in full.
type evidence struct {
	X               reports.Exchange
	Request, Answer body
	RequestHeaders  [][2]string
	AnswerHeaders   [][2]string
}

// Bounds of a chain that is shown: its end shows the violation, its beginning how it came about.
const (
	maxChain   = 30
	chainBegin = 10
)

func findingViewOf(r *reports.Result, q *reports.Requirement, f *reports.Finding, exchanges *exchangeList) findingView {
	v := findingView{
		Finding: f, Compare: compare(f.Expected, f.Actual), Replay: overview.ReplayCommand(r, f), Script: overview.ScriptPath(r, f),
		What: overview.WhatIsWrong(f), Scenario: overview.ScenarioOf(q, f), Chain: chainOf(exchanges, f),
	}
	if f.Known != nil {
		v.KnownText = overview.Known(f.Known)
	}
	return v
}

// chainOf lists the exchanges that led to a finding, the one that shows it in any case.
func chainOf(exchanges *exchangeList, f *reports.Finding) []chainLink {
	links, shows := f.Exchanges, false
	for _, l := range links {
		shows = shows || l.Exchange == f.Exchange
	}
	if !shows && f.Exchange > 0 {
		links = append(links[:len(links):len(links)], reports.Link{Exchange: f.Exchange, Part: reports.Observation})
	}
	skipped := max(len(links)-maxChain, 0)
	var chain []chainLink
	left := 0
	for i, l := range links {
		if i >= chainBegin && i < chainBegin+skipped && l.Exchange != f.Exchange {
			left++
			continue
		}
		x, ok := exchanges.get(l.Exchange)
		if !ok {
			continue
		}
		link := chainLink{Part: l.Part, Row: exchanges.row(x), Skipped: left}
		left = 0
		if l.Exchange == f.Exchange {
			link.Evidence = evidenceOf(x, f.Pointer)
		}
		chain = append(chain, link)
	}
	return chain
}

// evidenceOf shows an exchange in full, with the place in the answer that a finding is about marked.
func evidenceOf(x reports.Exchange, pointer string) *evidence {
	e := &evidence{Request: prettyBody(x.Request.Body, ""), Answer: prettyBody(x.Response.Body, pointer)}
	if x.Response.Size > len(x.Response.Body) {
		e.Answer.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d bytes in all", e.Answer.Note, x.Response.Size), "; ")
	}
	x.Request.Body, x.Response.Body = "", ""
	e.X = scrubbed(x, maxText)
	e.RequestHeaders, e.AnswerHeaders = sortedHeaders(e.X.Request.Headers), sortedHeaders(e.X.Response.Headers)
	return e
}
