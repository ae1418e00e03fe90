package oracle

import "fmt"

// What a rank must get.

func reducedWhole(c *Call) error { return c.reduced(c.first(c.Out), 0) }
func reducedPart(c *Call) error  { return c.reduced(c.at(c.Out, c.me), int64(c.me)*c.part) }

func reducedAtRoot(c *Call) error {
	if c.me != c.Root {
		return c.Stream.Sync()
	}
	return c.reduced(c.first(c.Out), 0)
}

func everyPart(c *Call) error {
	for rank := range c.n {
		if err := c.same(c.at(c.Out, rank), rank, 0); err != nil {
			return fmt.Errorf("part of rank %d: %w", rank, err)
		}
	}
	return nil
}

func everyPartAtRoot(c *Call) error {
	if c.me != c.Root {
		return c.Stream.Sync()
	}
	return everyPart(c)
}

func partOfRoot(c *Call) error { return c.same(c.first(c.Out), c.Root, 0) }

func ownPartOfRoot(c *Call) error {
	return c.same(c.at(c.Out, c.me), c.Root, int64(c.me)*c.part)
}

func transposed(c *Call) error {
	for rank := range c.n {
		if err := c.same(c.at(c.Out, rank), rank, int64(c.me)*c.part); err != nil {
			return fmt.Errorf("part of rank %d: %w", rank, err)
		}
	}
	return nil
}

func unevenParts(c *Call) error {
	for rank := range c.n {
		bytes := int64(c.uneven(rank, c.me)) * c.Dtype.Bytes()
		if err := c.same(c.at(c.Out, rank).At(0, bytes), rank, int64(c.me)*c.part); err != nil {
			return fmt.Errorf("part of rank %d: %w", rank, err)
		}
	}
	return nil
}

func everyoneCame(c *Call) error {
	if err := c.Stream.Sync(); err != nil {
		return err
	}
	for rank := range c.n {
		if rank == c.me {
			continue
		}
		peer, err := c.Comm.WorldRank(rank)
		if err != nil {
			return err
		}
		value, err := c.world.SignalValue(peer, c.Slot)
		if err != nil {
			return err
		}
		if value < c.Seed {
			return fmt.Errorf("rank %d has not come: its signal is %d, not %d", peer, value, c.Seed)
		}
	}
	return nil
}
