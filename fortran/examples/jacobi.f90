!> Time steps of a five-point stencil on a plate that need not fit the device:
!> jacobi [DEVICE [STEPS]].
program jacobi
    use polytile
    implicit none
    integer, parameter :: n = 300, m = 200
    character(*), parameter :: declaration = &
        'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]'
    character(*), parameter :: body = &
        'B(i, j) = 0.2f * (A(i, j) + A(i-1, j) + A(i+1, j) + A(i, j-1) + A(i, j+1));'
    real, allocatable, target :: plate(:, :)
    real, allocatable :: start(:, :)
    type(polytile_context) :: ctx
    type(polytile_queue) :: queue
    type(polytile_kernel) :: step, copy
    type(polytile_array) :: fields(0:1)
    type(polytile_report) :: report
    character(80) :: text
    character(20) :: word
    integer :: n_steps, t

    text = 'host(memory=64KiB)'
    n_steps = 10
    if (command_argument_count() >= 1) call get_command_argument(1, text)
    if (command_argument_count() >= 2) then
        call get_command_argument(2, word)
        read (word, *) n_steps
    end if
    allocate (plate(n, m), source=0.0)
    plate(1, :) = 100
    plate(:, m) = 50
    start = plate

    call polytile_context_create(ctx)
    call polytile_queue_create(ctx, text, queue)
    call polytile_kernel_compile(ctx, declaration, body, step)
    call polytile_kernel_compile(ctx, 'copy[i, j]: in A[i, j]; out B[i, j]', 'B(i, j) = A(i, j);', copy)
    call polytile_array_wrap(ctx, 'plate', plate, fields(0))
    call polytile_queue_create_array(queue, 'other', POLYTILE_F32, shape(plate), fields(1))
    call polytile_queue_attach(queue, fields(0:0))
    call polytile_queue_launch(queue, copy, polytile_extents(shape(plate)), fields)
    do t = 0, n_steps - 1
        call polytile_queue_launch(queue, step, polytile_bounds([2, 2], [n - 1, m - 1]), &
            [fields(mod(t, 2)), fields(1 - mod(t, 2))])
    end do
    if (mod(n_steps, 2) == 1) &
        call polytile_queue_launch(queue, copy, polytile_extents(shape(plate)), [fields(1), fields(0)])
    call polytile_queue_detach(queue, fields(0:0))
    report = polytile_queue_get_report(queue)
    call polytile_context_destroy(ctx)

    print '(i0, a, i0, a)', report%n_kernels, ' kernels, ', report%h2d_bytes, ' bytes up'
    if (any(plate /= by_loops(start, n_steps))) error stop 'jacobi: an element differs'
    print '(a)', 'every element is right'

contains

    function by_loops(field, n_steps) result(a)
        real, intent(in) :: field(:, :)
        integer, intent(in) :: n_steps
        real, allocatable :: a(:, :), b(:, :)
        integer :: i, j, t
        a = field
        b = field
        do t = 1, n_steps
            do j = 2, size(a, 2) - 1
                do i = 2, size(a, 1) - 1
                    b(i, j) = 0.2 * ((((a(i, j) + a(i-1, j)) + a(i+1, j)) + a(i, j-1)) + a(i, j+1))
                end do
            end do
            a = b
        end do
    end function
end program
