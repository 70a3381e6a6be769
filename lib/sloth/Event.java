package sloth;

import java.util.Map;

/**
 * One line of the ledger. Lines are only ever appended; their order is {@code seq}, never the time.
 *
 * @param job     null where it is about the whole queue
 * @param at      epoch ms UTC
 * @param event   one of {@code added claimed done retry failed reclaimed released slept lease-lost cancelled requeued
 *                clock-stepped step pruned}
 * @param attempt null where no attempt is meant; so is worker
 * @param detail  small JSON values: reason, exit, next attempt, ms
 */
public record Event(long seq, Long job, long at, String event, Integer attempt, String worker, Map<String, Object> detail) {
}
