local phase = obj.status ~= nil and obj.status.phase or "Pending"
if phase == "Lost" then return {status = "Degraded", message = "its volume is lost"} end
-- WaitForFirstConsumer: a claim that no job has mounted yet is as it should be.
return {status = "Healthy", message = phase}
