/** `1,234` */
export const countText = (count: number): string => count.toLocaleString('en')

/** `1 stone`, `1,234 stones` */
export const plural = (count: number, one: string, many: string): string =>
  `${countText(count)} ${count === 1 ? one : many}`
