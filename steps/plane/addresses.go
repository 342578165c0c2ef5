package plane

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/target"
)

// Address is a URL in a deployment, with its path there, as agent_url_from names it (GJSON syntax).
type Address struct{ Path, URL string }

// AddressesIn finds the first few strings in a deployment that are http or https URLs, without those that the suite has sent itself,
// such as that of the repository: these are in the JSON text.
func AddressesIn(a *client.Answer, sent []byte) (found []Address) {
	const most = 3
	var walk func(path string, value gjson.Result)
	walk = func(path string, value gjson.Result) {
		if value.IsObject() || value.IsArray() {
			at := 0
			value.ForEach(func(key, item gjson.Result) bool {
				name := gjson.Escape(key.String())
				if value.IsArray() {
					name = fmt.Sprint(at)
				}
				at++
				walk(strings.TrimPrefix(path+"."+name, "."), item)
				return len(found) < most
			})
			return
		}
		text := value.String()
		u, err := url.Parse(text)
		if value.Type != gjson.String || err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || bytes.Contains(sent, target.Encode(text)) {
			return
		}
		found = append(found, Address{path, text})
	}
	walk("", a.Get("@this"))
	return found
}
