package sloth;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Contestants take turns, each round starting with another one: a busy neighbour, or a warmer JVM, meets all alike. */
final class Contest {

    interface Turn {
        void take() throws Exception;
    }

    interface Measure {
        double once() throws Exception;
    }

    private final Map<String, Measure> contestants = new LinkedHashMap<>();

    /** A contestant that is judged by the seconds of its turn. */
    Contest seconds(String name, Turn turn) {
        return seconds(name, () -> { }, turn);
    }

    /** @param before what has to be made ready, and does not count */
    Contest seconds(String name, Turn before, Turn turn) {
        return measured(name, () -> {
            before.take();
            long start = System.nanoTime();
            turn.take();
            return (System.nanoTime() - start) / 1e9;
        });
    }

    Contest measured(String name, Measure measure) {
        contestants.put(name, measure);
        return this;
    }

    /** The first round only warms up. */
    Map<String, Series> rounds(int n) throws Exception {
        List<String> order = new ArrayList<>(contestants.keySet());
        Map<String, double[]> values = new HashMap<>();
        order.forEach(name -> values.put(name, new double[n]));
        for (int round = -1; round < n; round++) {
            for (int i = 0; i < order.size(); i++) {
                String name = order.get(Math.floorMod(round + i, order.size()));
                double value = contestants.get(name).once();
                if (round >= 0) {
                    values.get(name)[round] = value;
                }
            }
        }
        Map<String, Series> series = new LinkedHashMap<>();
        order.forEach(name -> series.put(name, new Series(values.get(name))));
        return series;
    }
}
