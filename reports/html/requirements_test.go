package html

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
)

func TestQuoteText(t *testing.T) {
	for quote, want := range map[string]string{
		"After authentication the user is there.":                         "After authentication the user is there.",
		"created_at ... date-time ... Read-only. ... updated_at ... yes":  "created_at: date-time … Read-only. … updated_at: yes",
		"200 ... RevisionsList ... 404 ... JSON object ... 422 ... Error": "200: RevisionsList; 404: JSON object; 422: Error",
		"POST /threads ... Thread with thread_id":                         "POST /threads: Thread with thread_id",
		"Lists all revisions. ... limit ... maximum resources returned":   "Lists all revisions. … limit: maximum resources returned",
	} {
		assert.Equal(t, want, quoteText(quote))
	}
}

// TestSections checks that the titles of the sections are those of the interface.
func TestSections(t *testing.T) {
	for i, title := range sectionTitles {
		assert.Equal(t, spec.SectionTitle(string(rune('1'+i))), title)
	}
	sections := sectionsOf("3, 10, x")
	require.Len(t, sections, 1)
	assert.Equal(t, section{"section 3: States and transitions", interfaceURL + "#3-states-and-transitions"}, sections[0])
}

func TestShortIDs(t *testing.T) {
	for want, ids := range map[string][]string{
		"":                               nil,
		"AS-ROLLBACK-4, -5, -8":          {"AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"},
		"CP-LIST-1, AS-STATE-1, -2, odd": {"CP-LIST-1", "AS-STATE-1", "AS-STATE-2", "odd"},
	} {
		assert.Equal(t, want, shortIDs(ids))
	}
}
