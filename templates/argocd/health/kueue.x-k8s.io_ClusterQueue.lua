local health = {status = "Progressing", message = "waiting for condition Active"}
local conditions = obj.status ~= nil and obj.status.conditions or {}
for _, condition in ipairs(conditions) do
  if condition.type == "Active" then
    health.message = (condition.reason or "") .. ": " .. (condition.message or "")
    if condition.observedGeneration ~= nil and condition.observedGeneration < obj.metadata.generation then
      health.status = "Progressing"
    elseif condition.status == "True" then
      health.status = "Healthy"
    elseif obj.spec ~= nil and obj.spec.stopPolicy ~= nil and obj.spec.stopPolicy ~= "None" then
      health.status = "Suspended"
    else
      health.status = "Degraded"
    end
  end
end
return health
