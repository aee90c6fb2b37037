"""Who: users, organizations, memberships, access tokens, the actor and the tenant gate."""
