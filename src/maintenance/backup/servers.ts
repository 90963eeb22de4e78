/** How the servers' own backups are taken. */
export const SERVER_BACKUP = `With EVENT_STORE on a server the log is the server's to back up, and before this command: a volume snapshot of one node,
or its files in the order that its documentation gives. \`npx adamant backup\` then copies the files that the log refers
to, out of GridFS too. Read models are made anew, and the vault (vault_* in MongoDB) belongs in no backup.`

/** And how they come back. */
export const SERVER_RESTORE = `With EVENT_STORE on a server: stop every process of Adamant, put the server's own backup back as its documentation says,
start it, and run \`npx adamant restore FROM --in-place\`: it puts FROM's files back and begins a new epoch of the log.
Leave FROM out where the files came back otherwise, such as by mongorestore of fs.files and fs.chunks.`
