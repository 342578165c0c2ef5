package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	older := map[string]string{"A-1": "one", "A-2": "two", "A-3": "twin", "A-4": "twin", "A-5": "five"}
	newer := map[string]string{"A-1": "one, said better", "B-2": "zwei", "B-3": "twin", "C-5": "five"}
	table := []rename{{"A-2", "X-2"}, {"X-2", "B-2"}, {"A-1", "B-9"}}
	assert.Equal(t, matching{
		"A-1": "A-1", // the id stays, whatever the title
		"B-2": "A-2", // renamed twice, by the table
		"C-5": "A-5", // by its title; B-3 might be either of the twins, so it is none
	}, match(older, newer, table))
}

func TestTheTableOfRenamesIsSound(t *testing.T) {
	from := map[string]bool{}
	for _, r := range renames() {
		assert.False(t, from[r.from], "%s is renamed twice: an id is never reused", r.from)
		assert.NotEqual(t, r.from, r.to)
		from[r.from] = true
	}
}
