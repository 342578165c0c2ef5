package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	older := map[string]string{"A-1": "one", "A-2": "two", "A-3": "twin", "A-4": "twin", "A-5": "five"}
	newer := map[string]string{"A-1": "one, said better", "B-2": "zwei", "B-3": "twin", "C-5": "five"}
	assert.Equal(t, matching{
		"A-1": "A-1", // the id stays, whatever the title
		"C-5": "A-5", // by its title; B-3 might be either of the twins, so it is none
	}, match(older, newer))
}
