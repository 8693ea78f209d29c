local status = obj.status or {}
if status.syncStatus == "Succeeded" then return {status = "Healthy", message = status.syncStatus} end
if status.syncStatus == "Failed" then return {status = "Degraded", message = status.lastSyncError or "sync failed"} end
return {status = "Progressing", message = status.syncStatus or "waiting for the config daemon"}
