package sloth;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/** What one contestant did in each round. */
record Series(double... rounds) {

    double median() {
        double[] sorted = sorted();
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    double least() {
        return sorted()[0];
    }

    double most() {
        return sorted()[rounds.length - 1];
    }

    private double[] sorted() {
        double[] sorted = rounds.clone();
        Arrays.sort(sorted);
        return sorted;
    }

    /** Round by round, so that what slowed a whole round down goes out of it. */
    Series over(Series other) {
        return new Series(IntStream.range(0, rounds.length).mapToDouble(i -> rounds[i] / other.rounds[i]).toArray());
    }

    Series beyond(Series other) {
        return new Series(IntStream.range(0, rounds.length).mapToDouble(i -> rounds[i] - other.rounds[i]).toArray());
    }

    Series map(DoubleUnaryOperator f) {
        return new Series(Arrays.stream(rounds).map(f).toArray());
    }
}
