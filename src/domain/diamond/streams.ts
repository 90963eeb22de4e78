/** The streams of a diamond: what its owner does, and what the scoring does, which never race each other. */
export const diamondStream = (id: number) => `diamond-${id}`
export const scoresStream = (id: number) => `scores-${id}`
