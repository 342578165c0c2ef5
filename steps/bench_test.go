//go:build unix

package steps_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/prover"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// runReference judges the reference, as agentconform run does without a target.
func runReference(b *testing.B) (*config.Config, *reports.Result) {
	server, err := reference.Start(context.Background(), reference.Options{TempDir: b.TempDir()})
	require.NoError(b, err)
	defer server.Close()
	cfg := config.Default()
	prover.Describe(&cfg, server)
	require.NoError(b, cfg.Complete())
	catalogue, oracle, err := steps.Requirements()
	require.NoError(b, err)
	res, err := steps.Run(context.Background(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, ID: "test", Seed: 1,
		Explore: suite.Automatic, Version: "test"})
	require.NoError(b, err)
	require.Equal(b, reports.Conformant, res.Verdict, res.Headline)
	return &cfg, res
}

// BenchmarkRun measures a whole test run of the reference, with and without reports. The reference is in the process.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"without-reports", "with-reports"} {
		b.Run(name, func(b *testing.B) {
			_, _, err := steps.Requirements()
			require.NoError(b, err)
			b.ReportAllocs()
			exchanges, before := 0, cpuTime(b)
			for b.Loop() {
				_, res := runReference(b)
				if name == "with-reports" {
					require.NoError(b, export.Write(b.TempDir(), res))
				}
				exchanges += len(res.Exchanges)
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(exchanges), "cpu-µs/exchange")
			b.ReportMetric(float64(exchanges)/float64(b.N), "exchanges/op")
		})
	}
}

// BenchmarkRecord passes the exchanges of one test run to the record, the invariants and the reports: once, and ten times
// with other ids. Ten times the exchanges must take at most eleven times the processor time.
func BenchmarkRecord(b *testing.B) {
	cfg, res := runReference(b)
	perRun := map[int]float64{}
	for _, times := range []int{1, 10} {
		b.Run(strconv.Itoa(times), func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				record(b, cfg, res, times)
			}
			perRun[times] = float64((cpuTime(b) - before).Microseconds()) / float64(b.N)
			b.ReportMetric(perRun[times]/float64(times*len(res.Exchanges)), "cpu-µs/exchange")
			if times == 10 && perRun[1] > 0 {
				b.ReportMetric(perRun[10]/perRun[1], "times-cpu")
			}
		})
	}
}

// record records the exchanges of a result several times, judges them and writes the reports.
func record(b *testing.B, cfg *config.Config, res *reports.Result, times int) {
	_, oracle, err := steps.Requirements()
	require.NoError(b, err)
	t, err := target.New(target.Options{Config: cfg, Oracle: oracle, Start: res.Run.StartedAt, RunID: "test"})
	require.NoError(b, err)
	defer t.Close()
	inOrder := slices.SortedStableFunc(slices.Values(res.Exchanges), func(a, b reports.Exchange) int { return int(a.AtMS - b.AtMS) })
	for turn := range times {
		start := res.Run.StartedAt.Add(time.Duration(turn) * time.Hour)
		for _, x := range inOrder {
			observe(t, x, turn, start.Add(time.Duration(x.AtMS)*time.Millisecond))
		}
	}
	var judged judgements
	invariants.NewRecord(t, func() []invariants.Other { return nil }).Define(common.NewDefinitions(&judged, &common.Patterns{}))
	for _, judge := range judged {
		_ = judge() // some lack evidence
	}
	more := *res
	more.Coverage, more.Exchanges = t.Collector.Coverage(t.Sides()...), t.Collector.Exchanges()
	before := more.Exchanges
	more.SetExchanges(t.Collector.Order(), func(id int) reports.Exchange { return before[id-1] })
	require.NoError(b, export.Write(b.TempDir(), &more))
}

// judgements collects the definitions under Then.
type judgements []func() error

func (j *judgements) Given(_, _ any) {}
func (j *judgements) When(_, _ any)  {}

// Then implements [common.Definer].
func (j *judgements) Then(_, function any) {
	if judge, is := function.(func() error); is {
		*j = append(*j, judge)
	}
}

var (
	ofTestRun = regexp.MustCompile(`(?i)[0-9a-f]{7}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|agentconform-test`) // ids without the first digit
	user      = regexp.MustCompile(`\$AGENTCONFORM_USERS_(\d+)_TOKEN$`)
)

// observe records an exchange. Each turn has its own ids and texts.
func observe(t *target.Target, x reports.Exchange, turn int, sent time.Time) {
	renamed := func(text string) string { return ofTestRun.ReplaceAllString(text, strconv.Itoa(turn)+"$0") }
	r := exchange.Request{Side: spec.ControlPlane, Base: t.Config.Target, Method: x.Method, Header: http.Header{},
		Body: []byte(renamed(x.Request.Body)), Caller: exchange.Caller{Invalid: len(x.Request.Secrets) == 0}}
	r.Path, r.Query, _ = strings.Cut(strings.TrimPrefix(renamed(x.URL), r.Base), "?")
	if rest, is := strings.CutPrefix(r.Path, "/agents/"); is {
		id, path, _ := strings.Cut(rest, "/")
		r.Side, r.Base, r.Path = spec.AgentServer, r.Base+"/agents/"+id, "/"+path
	}
	for name, values := range x.Request.Headers {
		r.Header[name] = slices.Clone(values)
		if found := user.FindStringSubmatch(values[0]); found != nil {
			r.Caller.Name = "users." + found[1]
			index, _ := strconv.Atoi(found[1])
			r.Header[name] = []string{"Bearer " + t.Config.Users[index].Token}
		}
	}
	a := &exchange.Response{Request: r, Status: x.Status, Header: x.Response.Headers, Body: []byte(renamed(x.Response.Body)), Sent: sent,
		Took: time.Duration(x.MS * float64(time.Millisecond))}
	ctx := evidence.WithScenario(context.Background(), x.Scenario+strings.Repeat("'", turn), 1)
	t.Collector.Observe(ctx, r, sent, a, x.Error)
}
