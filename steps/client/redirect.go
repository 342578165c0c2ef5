package client

import "net/http"

// stayOnTarget follows redirects of reading requests within the host that was asked, a few times. Any other
// redirect is returned as the answer.
func stayOnTarget(next *http.Request, via []*http.Request) error {
	first := via[0]
	if next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme || first.Method != http.MethodGet || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// keepUnusableRedirect makes a redirect that leads nowhere an answer like any other: http.Client would return an error in its place. The
// header stays, under a spelling that http.Client does not look for.
func keepUnusableRedirect(request *http.Request, response *http.Response) {
	to := response.Header.Get("Location")
	if to == "" {
		return
	}
	if at, err := request.URL.Parse(to); err != nil || at.Host == "" || at.Opaque != "" {
		response.Header["location"] = response.Header["Location"]
		delete(response.Header, "Location")
	}
}
