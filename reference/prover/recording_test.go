package prover

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/recording"
)

// TestRecordingOfATestRun checks that the archive of a test run shows the same faults as the test run, provided that
// their requirements need no other requests. The faults of a group are in one server.
func TestRecordingOfATestRun(t *testing.T) {
	t.Parallel()
	p, err := newProver(Options{})
	require.NoError(t, err)
	for _, group := range []string{
		features.ControlPlane + " not-found-is-a-text problems-have-no-type broken-json-fails created-build-on-push-is-a-text " +
			"listed-updated-at-is-a-number revision-times-have-no-offset unknown-revision-shows-a-trace update-with-unknown-key-looks-done " +
			"filtered-list-has-no-ref deployment-shows-a-list-of-commits",
		features.ControlPlane + " detail-is-a-text change-of-source-fails failed-revision-has-the-id-of-its-deployment " +
			"list-loses-an-inherited-path deployment-shows-the-last-good-source created-is-unknown-at-first",
		features.AgentServer + " state-shows-anothers-token refused-join-has-no-detail thread-without-credentials-looks-created " +
			"run-names-the-one-it-replaced input-that-is-no-object-crashes unknown-run-shows-a-trace new-thread-is-203",
		features.AgentServer + " state-keeps-replaced-inputs new-thread-names-the-one-before rollback-run-in-progress-has-another-id " +
			"state-crashes-during-a-run tool-has-no-content new-run-is-206",
	} {
		profile, names, _ := strings.Cut(group, " ")
		t.Run(names, func(t *testing.T) {
			layers, edition, err := faults.Find(strings.Fields(names)...)
			require.NoError(t, err)
			row := proof.Row{Kind: proof.Fault, Name: names, Edition: edition}
			server := p.reference(row, func(o *reference.Options) {
				for _, apply := range layers {
					apply(o)
				}
			})
			err = inBubble(t, func(ctx context.Context, e environment) { compareRecording(ctx, t, p, e, server, profile) })
			require.NoError(t, err)
		})
	}
}

func compareRecording(ctx context.Context, t *testing.T, p *prover, e environment, server trial, profile string) {
	t.Helper()
	cfg, stop, err := server.begin(ctx, e)
	require.NoError(t, err)
	defer stop()
	o := p.options(e, cfg)
	o.Select = steps.Selection{Profiles: []string{profile}, Tags: "not @situation"}
	run, err := steps.Run(ctx, o)
	require.NoError(t, err)
	var archive bytes.Buffer
	require.NoError(t, har.Write(&archive, run))
	from, err := recording.Read(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	require.NoError(t, err)
	o.Select = steps.Selection{Profiles: []string{profile}}
	judged, err := steps.JudgeRecording(ctx, o, from)
	require.NoError(t, err)
	want := recordedFindings(p.catalogue, run)
	require.NotEmpty(t, want)
	assert.Equal(t, want, recordedFindings(p.catalogue, judged))
}

// recordedFindings returns the requirements and IDs of the findings of scenarios about the record.
func recordedFindings(c *features.Catalogue, r *reports.Result) (all []string) {
	for _, f := range r.Findings {
		isRecord := func(s *features.Scenario) bool { return s.Terms.Record && s.Key() == f.Scenario }
		if slices.ContainsFunc(c.Scenarios(), isRecord) {
			all = append(all, f.Requirement+" "+f.ID+" "+f.Summary)
		}
	}
	return all
}
