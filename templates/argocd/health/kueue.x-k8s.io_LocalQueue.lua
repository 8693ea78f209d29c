local health = {status = "Progressing", message = "waiting for condition Active"}
local conditions = obj.status ~= nil and obj.status.conditions or {}
for _, condition in ipairs(conditions) do
  if condition.type == "Active" then
    health.message = (condition.reason or "") .. ": " .. (condition.message or "") .. " (" .. obj.spec.clusterQueue .. ")"
    -- The platform unit may bring the ClusterQueue later: not active is not broken.
    if condition.status == "True" then health.status = "Healthy" end
  end
end
return health
