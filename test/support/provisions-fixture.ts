/** A policy set of which each rule reads something, and what a configuration has to provide for it. */
export const FED_BY_CONFIGURATION = `attributes:
  target: { source: people, key: path.id, types: { department: string } }
  plan: { source: plans, key: user.tier }
  user: { types: { tier: string, badge: string } }
policies:
  - name: colleagues
    resource: GET /people/{id}
    condition: user.department == target.department
  - { resource: GET /plan, condition: plan.name == "gold" }
  - { resource: GET /badge, condition: user.id == "x" or user.badge == "y" or exists(user.badge) }
  - resource: GET /header
    condition: request.headers["X-User-Plan"] == "gold" or request.headers["x-user-role"] == "admin"
  - resource: GET /fine
    condition: user.role == "admin" and request.headers["x-tier"] == "gold"
response_masks:
  - api_pattern: /people/{id}
    fields:
      - { name: phone, condition: item.owner == user.id, mask_type: full }
      - { name: email, condition: item.owner == user.badge, mask_type: full }
graphql_policies:
  - { query: plan, condition: user.tier == args.tier }
websocket_policies:
  - connection: { path: /ws, condition: exists(user.tier) }
    message_types: [{ type: say, condition: message.to == user.badge }]
`;
