local health = {status = "Progressing", message = "waiting for the machine-config operator"}
local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do conditions[condition.type] = condition end
local function is_true(name) return conditions[name] ~= nil and conditions[name].status == "True" end
for _, name in ipairs({"RenderDegraded", "NodeDegraded", "Degraded"}) do
  if is_true(name) then
    local said = {name, conditions[name].reason or "", conditions[name].message or ""}
    return {status = "Degraded", message = table.concat(said, ": ")}
  end
end
if conditions.Updating ~= nil and (conditions.Updating.message or "") ~= "" then
  health.message = conditions.Updating.message
end
if status.observedGeneration ~= nil and status.observedGeneration < obj.metadata.generation then return health end
if is_true("Updated") then
  health = {status = "Healthy", message = conditions.Updated.message or "Updated"}
elseif conditions.Updated ~= nil and obj.spec ~= nil and obj.spec.paused then
  -- An administrator or an operator holds the pool: its nodes keep their old configuration until it is released.
  health.status = "Suspended"
end
return health
