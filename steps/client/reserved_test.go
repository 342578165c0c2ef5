package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// TestAddressesThatNoPlaneMayName: whatever the form, unless it is the host that the user named.
func TestAddressesThatNoPlaneMayName(t *testing.T) {
	for _, host := range []string{
		"169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "[fd00:ec2::254]", "[fd20:ce::254]",
		"[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::ffff:100.100.100.200]", "[::a9fe:a9fe]", "[64:ff9b::7f00:1]",
		"100.64.0.1", "100.127.255.254", "255.255.255.255", "240.0.0.1", "0.1.2.3",
		"metadata.google.internal", "METADATA.google.internal.", "metadata.goog", "instance-data.ec2.internal",
	} {
		_, err := client.NamedBy("http://control.example", "http://"+host+"/a")
		require.ErrorContains(t, err, "metadata", host)
		_, err = client.NamedBy("http://"+host, "http://"+host+"/a")
		require.NoError(t, err, "%s is the host that the user named", host)
	}
	for _, host := range []string{"agents.example", "8.8.8.8", "100.128.0.1", "[2001:db8::1]", "192.0.1.1", "metadata.example", "[64:ff9b::808:808]"} {
		base, err := client.NamedBy("http://control.example", "http://"+host)
		require.NoError(t, err, host)
		assert.Equal(t, "http://"+host, base)
	}
}
