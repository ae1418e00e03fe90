package nccl

import "github.com/ccrun/ccrun/host/op"

// directs is sends and receives, which all make progress together: the time of
// the busiest rank's busiest link, and a little for each of its peers.
func (p *Params) directs(j job) []Choice {
	peers, inside, outside := load(j)
	latency := float64(peers) * p.DirectPeer
	seconds := 0.0
	if inside > 0 {
		if !(p.DirectBandwidth > 0) {
			return nil
		}
		seconds = inside / p.DirectBandwidth
	}
	if j.nodes > 1 {
		if !(p.NetBandwidth > 0) {
			return nil
		}
		latency += p.Ring.NetHop.Simple
		seconds = max(seconds, outside/p.NetBandwidth)
	}
	latency += p.Overhead
	all := []Choice{{"direct", simple, latency + p.DirectBase + seconds}}
	if j.bytes/float64(peers+1) <= p.DirectLLBytes {
		all = append(all, Choice{"direct", "LL", latency + p.DirectBaseLL + 2*seconds})
	}
	return all
}

// load is how many peers the busiest rank has and how many bytes it moves, in
// the direction in which it moves more, within its node and to other nodes.
func load(j job) (peers int, inside, outside float64) {
	if j.collective == op.SendRecv || j.collective == op.Custom {
		if j.nodes > 1 {
			return 1, 0, j.bytes
		}
		return 1, j.bytes, 0
	}
	share := j.bytes / float64(j.ranks)
	return j.ranks - 1, share * float64(j.local-1), share * float64(j.ranks-j.local)
}
