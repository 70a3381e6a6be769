///usr/bin/env jbang "$0" "$@" ; exit $?
//JOB key=args
//DEPS ../.slothq/sloth.jar
// A hosted job: one warm JVM for all pictures. Without arguments it adds a job for each picture in data/pictures/; with
// one it makes small copies in out/thumbs/, a step a size: a later attempt does not make again what is done.
// For pictures of your own: find ~/Pictures -name '*.jpg' | slothq add --each - thumbs

import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import javax.imageio.ImageIO;
import sloth.GiveUp;
import sloth.Job;
import sloth.JobContext;

public class thumbs implements Job {

    private static final List<Integer> WIDTHS = List.of(480, 160);

    @Override public Object run(JobContext job) throws Exception {
        return job.args().isEmpty() ? addAll(job) : shrink(Path.of(job.args().get(0)), job);
    }

    private static String addAll(JobContext job) throws IOException {
        try (var files = Files.list(Path.of("data", "pictures"))) {
            List<Path> pictures = files.sorted().toList();
            pictures.forEach(p -> job.add("thumbs.java", p.toString()));
            return pictures.size() + " pictures added";
        }
    }

    private static String shrink(Path file, JobContext job) throws Exception {
        BufferedImage picture = Files.isReadable(file) ? ImageIO.read(file.toFile()) : null;
        if (picture == null) {
            throw new GiveUp(file + " is no picture that Java can read");
        }
        int made = 0;
        for (int width : WIDTHS) {
            job.step(width + " wide", String.class, () -> write(scaled(picture, width), width + "-" + file.getFileName()));
            job.progress(++made, WIDTHS.size(), width + " wide");
        }
        return picture.getWidth() + "x" + picture.getHeight() + ", " + made + " small copies in out/thumbs/";
    }

    private static BufferedImage scaled(BufferedImage from, int width) {
        int height = Math.max(1, from.getHeight() * width / from.getWidth());
        BufferedImage to = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        var g = to.createGraphics();
        g.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BICUBIC);
        g.drawImage(from, 0, 0, width, height, null);
        g.dispose();
        return to;
    }

    private static String write(BufferedImage picture, String name) throws IOException {
        Path to = Path.of("out", "thumbs", name);
        Files.createDirectories(to.getParent());
        Path part = Path.of(to + ".part");
        ImageIO.write(picture, "jpg", part.toFile());
        return Files.move(part, to, StandardCopyOption.ATOMIC_MOVE).toString();
    }

    public static void main(String... args) throws Exception {
        Job.alone(new thumbs(), args);
    }
}
