package preset

import "testing"

func TestFind(t *testing.T) {
	p, err := Find("h100")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", p)
}
