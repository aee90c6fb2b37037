"""Letters with a link: e-mail verification and invitations. A link's token is kept as a digest only."""
