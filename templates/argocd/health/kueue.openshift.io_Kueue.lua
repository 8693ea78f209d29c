local health = {status = "Progressing", message = "waiting for the Kueue operator"}
local conditions = obj.status ~= nil and obj.status.conditions or {}
for _, condition in ipairs(conditions) do
  if condition.type == "Available" then
    health.message = (condition.reason or "") .. ": " .. (condition.message or "")
    -- Never Degraded: the operator reports that at each start, and it would fail the sync that waits for Kueue's kinds.
    if condition.status == "True" then health.status = "Healthy" end
  end
end
return health
