//go:build browser

package html_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestSpecificationInABrowser(t *testing.T) {
	b := openBrowser(t)
	r := reporttest.Faulty()
	page, _ := specificationPage(t, r)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1400}, {"dark", "dark", 1400}, {"narrow", "light", 390}, {"narrow-dark", "dark", 390}} {
		b.size(look.width, 1400, look.scheme)
		b.open(page, "#CP-LIST-3")
		assert.Equal(t, "true", b.eval("document.getElementById('CP-LIST-3').open && document.getElementById('CP-LIST-3').getBoundingClientRect().top < 500"))
		b.picture("specification-" + look.name)
		b.eval(openAll)
		assert.Equal(t, fmt.Sprint(look.width), b.eval("document.documentElement.scrollWidth"), "%s: nothing sticks out sideways", look.name)
	}
	b.open(page, "")
	shown := func() string { return b.eval("document.querySelectorAll('.req:not([hidden])').length") }
	all := fmt.Sprint(len(r.Requirements))
	b.key("f")
	assert.Equal(t, all, shown(), "nothing has failed here")
	b.key("/")
	for _, c := range "cp-list-3" {
		b.key(string(c))
	}
	assert.Equal(t, "1", shown())
	assert.Equal(t, "1 of "+all, b.eval("document.querySelector('#shown').textContent"))
	b.key("Escape")
	b.eval("document.querySelector('#levels [data-value=SHOULD]').click()")
	assert.NotEqual(t, all, shown())
	assert.Empty(t, b.complaints())
}

// TestSpecificationIsAccessible lets axe-core judge the page with everything opened.
func TestSpecificationIsAccessible(t *testing.T) {
	b := openBrowser(t)
	axe := axeSource(t)
	page, _ := specificationPage(t, reporttest.Sample())
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1400}, {"dark", "dark", 1400}, {"narrow", "light", 390}} {
		b.size(look.width, 1000, look.scheme)
		assertAccessible(t, b, axe, page, "specification, "+look.name)
	}
	assert.Empty(t, b.complaints())
}
